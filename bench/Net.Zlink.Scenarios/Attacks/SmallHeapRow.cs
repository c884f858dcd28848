using System.Diagnostics;

namespace Net.Zlink.Scenarios.Attacks;

/// <summary>Ten peers send large messages to a server with a small heap.</summary>
internal sealed class SmallHeapRow(int heapMegabytes, int messageMegabytes)
    : AttackRow($"heap-{heapMegabytes}-messages-{messageMegabytes}")
{
    private const int Peers = 10;
    private const double IdleMegabytes = 10;
    private const int Mebibyte = 1 << 20;

    private static readonly TimeSpan Settled = TimeSpan.FromSeconds(15);
    private static readonly TimeSpan Look = TimeSpan.FromSeconds(1);

    public static IEnumerable<SmallHeapRow> All { get; } = [new(64, 3), new(128, 6)];

    public override async Task<IReadOnlyList<AttackFigure>> RunAsync(TimeSpan time, CancellationToken cancellation)
    {
        await using ServedProcess server =
            await ServedProcess.StartAsync("tcp", TimeSpan.Zero, (long)heapMegabytes * Mebibyte, cancellation);
        using (var stop = CancellationTokenSource.CreateLinkedTokenSource(cancellation))
        await using (var context = new ZlinkContext(new ZlinkContextOptions { DefaultLinger = TimeSpan.Zero }))
        {
            stop.CancelAfter(time);
            await Task.WhenAll(Enumerable.Range(0, Peers).Select(_ => SendAsync(context, server.Endpoint, stop.Token)));
        }

        ServedState? state = null;
        double heap = double.NaN;
        long start = Stopwatch.GetTimestamp();
        while (Stopwatch.GetElapsedTime(start) < Settled && !(heap < IdleMegabytes))
        {
            await Task.Delay(Look, cancellation);
            state = server.HasExited ? null : await server.AskAsync(cancellation);
            if (state is null)
            {
                throw new InvalidOperationException($"the server has died: {server.LastErrors}");
            }

            heap = state.HeapMegabytes;
        }

        return
        [
            new("idle heap afterwards, MB", heap, IdleMegabytes),
            new("sends without memory", state?.Faults ?? double.NaN, 0),
            new("messages received", state?.Received ?? double.NaN, 1, AtLeast: true),
        ];
    }

    private async Task SendAsync(ZlinkContext context, string endpoint, CancellationToken stop)
    {
        byte[] payload = new byte[messageMegabytes * Mebibyte];
        DealerSocket client = context.CreateDealer();
        client.Options.SendHighWaterMark = 1;
        client.Connect(endpoint);
        try
        {
            while (true)
            {
                await client.SendAsync(payload, stop);
                while (client.TryReceive(out Message answer))
                {
                    answer.Dispose();
                }
            }
        }
        catch (OperationCanceledException)
        {
            // The round is over.
        }
    }
}
