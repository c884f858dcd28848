namespace Net.Zlink.Scenarios.Patterns.Soak;

/// <summary>One pattern over one transport: a server that stays, and clients that come, talk and go.</summary>
/// <param name="context">Shared by all lanes.</param>
/// <param name="pattern">One of <see cref="PatternNames.All"/>.</param>
/// <param name="transport">One of <see cref="PatternNames.Transports"/>.</param>
/// <param name="counters">Of all lanes.</param>
internal sealed class SoakLane(ZlinkContext context, string pattern, string transport, SoakCounters counters)
{
    // A patient client: on a machine that does other things too, a second without an answer is no fault, half a minute is.
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(30);

    // Messages of one client's life: short lives test connecting, long ones everything else.
    private const int ShortestLife = 10;
    private const int LongestLife = 1_000;

    private const int InFlight = 16;

    // A client rests now and then: over inproc nothing ever waits, and a lane that never lets go of its thread would starve the others of
    // the pool, which is not what is tested.
    private const int MessagesWithoutRest = 32;
    private static readonly TimeSpan Rest = TimeSpan.FromMilliseconds(5);

    // One client in so many leaves with answers on their way.
    private const int AbruptOneIn = 4;

    private readonly SoakServer _server = new(context, pattern, transport);

    public string Name { get; } = $"{pattern} over {transport}";

    /// <summary>Who answers whoever asks, or has one peer at a time, serves one client: another would get its answers.</summary>
    public int Clients => pattern is PatternNames.Pair or PatternNames.DealerDealer ? 1 : 3;

    // With one client at a time, what one leaves behind would be the next one's.
    private bool MayLeaveAbruptly => Clients > 1;

    /// <summary>Runs until it is cancelled.</summary>
    public async Task RunAsync(CancellationToken stop)
    {
        try
        {
            string endpoint = _server.Bind();
            Task[] all = [_server.RunAsync(stop), .. Enumerable.Range(0, Clients).Select(client => LiveAsync(endpoint, client, stop))];
            await Task.WhenAll(all);
        }
        catch (Exception) when (stop.IsCancellationRequested)
        {
            // The end of the run: the server goes while clients talk to it.
        }
        catch (Exception e)
        {
            counters.Fault($"{Name}: {e.GetType().Name}: {e.Message}");
        }
    }

    private async Task LiveAsync(string endpoint, int client, CancellationToken stop)
    {
        var random = new Random(HashCode.Combine(pattern.Length, transport.Length, client));
        for (int life = 0; !stop.IsCancellationRequested; life++)
        {
            using var patience = CancellationTokenSource.CreateLinkedTokenSource(stop);
            patience.CancelAfter(Patience);
            ISoakClient? one = null;
            try
            {
                if (!MayLeaveAbruptly)
                {
                    await _server.WhenAloneAsync(patience.Token);
                }

                one = await _server.ConnectAsync(endpoint, $"{client}-{life}", patience.Token);
                int messages = random.Next(ShortestLife, LongestLife);
                if (pattern is PatternNames.PubSub)
                {
                    await ListenAsync(one, messages, patience);
                }
                else
                {
                    bool abrupt = MayLeaveAbruptly && random.Next(AbruptOneIn) == 0;
                    await TalkAsync(one, messages, abrupt ? random.Next(messages) : messages, patience);
                }

                counters.CountConnection(Name);
            }
            catch (OperationCanceledException) when (!stop.IsCancellationRequested)
            {
                counters.Fault($"{Name}: nothing came within {Patience.TotalSeconds:0} s. Client: {one?.Describe() ?? "not connected"}; "
                    + $"server: {_server.Describe()}");
            }
            finally
            {
                if (one is not null)
                {
                    await one.DisposeAsync();
                }
            }
        }
    }

    /// <summary>Each answer must be the next, as it was sent.</summary>
    private async Task TalkAsync(ISoakClient client, int messages, int untilReceived, CancellationTokenSource patience)
    {
        byte[] payload = new byte[SoakMessage.Longest];
        for (int sent = 0, received = 0; received < untilReceived; received++)
        {
            for (; sent < messages && sent - received < InFlight; sent++)
            {
                await client.SendAsync(payload.AsMemory(0, SoakMessage.Write(payload, sent)), patience.Token);
            }

            await ExpectAsync(client, received, patience);
        }
    }

    /// <summary>From the first on, each must be the next.</summary>
    private async Task ListenAsync(ISoakClient client, int messages, CancellationTokenSource patience)
    {
        long next = await client.ReceiveAsync(patience.Token);
        for (int received = 1; received < messages; received++)
        {
            await ExpectAsync(client, ++next, patience);
        }
    }

    private async Task ExpectAsync(ISoakClient client, long number, CancellationTokenSource patience)
    {
        patience.CancelAfter(Patience);
        long got = await client.ReceiveAsync(patience.Token);
        counters.Count(1);
        if (number % MessagesWithoutRest == 0)
        {
            await Task.Delay(Rest, patience.Token);
        }

        if (got != number)
        {
            throw new InvalidOperationException(got < 0 ? $"a broken message came instead of number {number}"
                : $"number {got} came instead of number {number}");
        }
    }
}
