using System.CommandLine;
using System.Globalization;

namespace Net.Zlink.Scenarios.Attacks;

/// <summary>A ROUTER in a process of its own, which can be stopped or have a small heap. A line of input asks for its state.</summary>
internal static class ServedCommand
{
    public const string Name = "attack-server";
    public const string Bound = "BOUND ";
    public const string State = "STATE ";

    private const int AnsweredFrom = 1 << 20;
    private const int AnswerSize = 10;
    private const double BytesPerMebibyte = 1 << 20;

    private static readonly TimeSpan ShutdownLimit = TimeSpan.FromSeconds(1);

    public static Command Create()
    {
        var transport = new Option<string>("--transport") { Description = "tcp, ws or ipc.", Required = true };
        var heartbeat = new Option<int>("--heartbeat") { Description = "The interval in ms; the timeout is three of it. 0: none." };
        var command = new Command(Name, "A ROUTER that counts what it receives; 'attack' runs it.");
        command.Add(transport);
        command.Add(heartbeat);
        command.SetAction(async (request, cancellation) =>
        {
            await RunAsync(request.GetValue(transport)!, TimeSpan.FromMilliseconds(request.GetValue(heartbeat)), cancellation);
            return 0;
        });
        return command;
    }

    private static async Task RunAsync(string transport, TimeSpan heartbeat, CancellationToken cancellation)
    {
        await using var context = new ZlinkContext(new ZlinkContextOptions { ShutdownTimeout = ShutdownLimit });
        RouterSocket router = context.CreateRouter();
        (router.Options.HeartbeatInterval, router.Options.HeartbeatTimeout) = (heartbeat, Heartbeats.TimeoutOf(heartbeat));
        Console.WriteLine(Bound + router.Bind(transport is "ipc" ? "ipc://*" : $"{transport}://127.0.0.1:*"));
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(cancellation);
        var received = new ServedCounts();
        Task serving = Task.Run(() => ServeAsync(router, received, stop.Token), CancellationToken.None);
        while (await Console.In.ReadLineAsync(cancellation) is not null && !serving.IsCompleted)
        {
            context.Pool.Trim();
            GC.Collect();
            Console.WriteLine(string.Create(CultureInfo.InvariantCulture,
                $"{State}{received.Messages} {GC.GetTotalMemory(forceFullCollection: true) / BytesPerMebibyte:0.0} {received.Faults}"));
        }

        await stop.CancelAsync();
        await serving;
    }

    private static async Task ServeAsync(RouterSocket router, ServedCounts counts, CancellationToken stop)
    {
        byte[] answer = new byte[AnswerSize];
        try
        {
            while (true)
            {
                using Message message = await router.ReceiveAsync(stop);
                counts.Messages++;
                if (message.Span.Length >= AnsweredFrom)
                {
                    Answer(router, message, answer, counts);
                }
            }
        }
        catch (OperationCanceledException)
        {
            // Told to end.
        }
    }

    private static void Answer(RouterSocket router, Message message, byte[] answer, ServedCounts counts)
    {
        if (router.To(message.RoutingId).TrySend(answer).Reason == SendFailure.NoMemory)
        {
            counts.Faults++; // Of a send of ten bytes: the limits did not hold.
        }
    }

    private sealed class ServedCounts
    {
        public long Messages { get; set; }

        public long Faults { get; set; }
    }
}
