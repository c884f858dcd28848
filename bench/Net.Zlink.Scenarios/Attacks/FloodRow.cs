using System.Diagnostics;
using Net.Zlink.Scenarios.Measure;

namespace Net.Zlink.Scenarios.Attacks;

/// <summary>Eight peers flood with what is no message, and established clients exchange messages meanwhile.</summary>
internal sealed class FloodRow(string transport, FloodBytes flood) : AttackRow($"flood-{transport}-{flood.Name}")
{
    private const int Peers = 8;
    private const int ClientsPerTransport = 2;
    private const double LongestP99 = 100;
    private const double NanosecondsPerMillisecond = 1_000_000;
    private const int FewestPerSecond = 20;
    private const int P99 = 99;

    private static readonly TimeSpan Between = TimeSpan.FromMilliseconds(2);

    public static IEnumerable<FloodRow> All { get; } =
        from transport in new[] { "tcp", "tls", "ws", "wss" }
        from flood in FloodBytes.All
        where flood.IsOf(transport)
        select new FloodRow(transport, flood);

    public override async Task<IReadOnlyList<AttackFigure>> RunAsync(TimeSpan time, CancellationToken cancellation)
    {
        await using var server = new AttackServer(transport, "tcp");
        DealerSocket[] clients = [.. Enumerable.Range(0, ClientsPerTransport)
            .SelectMany(_ => new[] { "tcp", transport }).Select(transport => server.Connect(transport))];
        foreach (DealerSocket client in clients)
        {
            await RoundTripAsync(client, cancellation);
        }

        await using Attackers attackers = await Attackers.StartAsync(flood.Name, transport, server.PortOf(transport), Peers, cancellation);
        long start = Stopwatch.GetTimestamp();
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(cancellation);
        stop.CancelAfter(time);
        LatencyHistogram[] measured = await Task.WhenAll(clients.Select(client => Task.Run(() => MeasureAsync(client, stop.Token))));
        double seconds = Stopwatch.GetElapsedTime(start).TotalSeconds;
        var all = new LatencyHistogram();
        foreach (LatencyHistogram one in measured)
        {
            all.Add(one);
        }

        long bytes = await attackers.EndAsync(cancellation);
        return
        [
            new("round trips, p99, ms", all.Count == 0 ? double.NaN : all.Percentile(P99) / NanosecondsPerMillisecond, LongestP99),
            new("round trips a second", all.Count / seconds, FewestPerSecond, AtLeast: true),
            new("longest, ms", all.Max / NanosecondsPerMillisecond, null),
            new("flood, MB a second", bytes / seconds / (1 << 20), null),
        ];
    }

    private static async Task<LatencyHistogram> MeasureAsync(DealerSocket client, CancellationToken stop)
    {
        var times = new LatencyHistogram();
        long start = Stopwatch.GetTimestamp();
        try
        {
            while (true)
            {
                start = Stopwatch.GetTimestamp();
                await RoundTripAsync(client, stop);
                times.Record((long)Stopwatch.GetElapsedTime(start).TotalNanoseconds);
                await Task.Delay(Between, stop);
            }
        }
        catch (OperationCanceledException)
        {
            times.Record((long)Stopwatch.GetElapsedTime(start).TotalNanoseconds); // One that never ended counts as well.
            return times;
        }
    }

    private static async Task RoundTripAsync(DealerSocket client, CancellationToken cancellation)
    {
        await client.SendAsync("?"u8.ToArray(), cancellation);
        using Message answer = await client.ReceiveAsync(cancellation);
    }
}
