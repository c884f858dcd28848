namespace Net.Zlink.Scenarios.Patterns.Soak;

/// <summary>Whole contexts that come and go, with all that belongs to one: shards, timers, a pool.</summary>
internal sealed class ContextChurn(SoakCounters counters)
{
    public const string Name = "contexts";

    private const int Messages = 100;

    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(30);

    public async Task RunAsync(CancellationToken stop)
    {
        try
        {
            while (!stop.IsCancellationRequested)
            {
                await LiveAsync(stop);
                counters.CountConnection(Name);
                await Task.Delay(TimeSpan.FromMilliseconds(100), stop);
            }
        }
        catch (OperationCanceledException) when (stop.IsCancellationRequested)
        {
            // The end of the run.
        }
        catch (Exception e)
        {
            counters.Fault($"{Name}: {e.GetType().Name}: {e.Message}");
        }
    }

    private async Task LiveAsync(CancellationToken stop)
    {
        using var patience = CancellationTokenSource.CreateLinkedTokenSource(stop);
        patience.CancelAfter(Patience);
        await using var context = new ZlinkContext();
        PairSocket server = context.CreatePair();
        PairSocket client = context.CreatePair();
        client.Connect(server.Bind("tcp://127.0.0.1:*"));
        byte[] payload = new byte[SoakMessage.Longest];
        for (int i = 0; i < Messages; i++)
        {
            await client.SendAsync(payload.AsMemory(0, SoakMessage.Write(payload, i)), patience.Token);
            using Message message = await server.ReceiveAsync(patience.Token);
            counters.Count(1);
            if (SoakMessage.Read(message.Span) != i)
            {
                throw new InvalidOperationException($"number {i} arrived broken");
            }
        }
    }
}
