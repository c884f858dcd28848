using System.Diagnostics;

namespace Net.Zlink.Scenarios.Attacks;

/// <summary>8,000 peers that begin a handshake and never finish it, and good clients that come meanwhile.</summary>
internal sealed class HandshakeRow(string transport) : AttackRow($"handshakes-{transport}")
{
    private const int Peers = 8_000;
    private const double PercentInTime = 99;
    private const int Percent = 100;

    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(2);

    // So that 10 s have 200 tries.
    private static readonly TimeSpan BetweenTries = TimeSpan.FromMilliseconds(50);

    public static IEnumerable<HandshakeRow> All { get; } = [new("tls"), new("ws"), new("wss")];

    public override async Task<IReadOnlyList<AttackFigure>> RunAsync(TimeSpan time, CancellationToken cancellation)
    {
        await using var server = new AttackServer(transport);
        await TryAsync(server, cancellation); // The runtime compiles.
        await using Attackers attackers = await Attackers.StartAsync(StalledPeers.Kind, transport, server.PortOf(transport), Peers,
            cancellation);
        var tries = new List<Task<TimeSpan?>>();
        long start = Stopwatch.GetTimestamp();
        using (var timer = new PeriodicTimer(BetweenTries))
        {
            while (Stopwatch.GetElapsedTime(start) < time && await timer.WaitForNextTickAsync(cancellation))
            {
                tries.Add(TryAsync(server, cancellation));
            }
        }

        TimeSpan?[] times = await Task.WhenAll(tries);
        TimeSpan[] inTime = [.. times.OfType<TimeSpan>()];
        long connects = await attackers.EndAsync(cancellation);
        return
        [
            new("good clients in within 2 s, %", (double)inTime.Length * Percent / times.Length, PercentInTime, AtLeast: true),
            new("longest of those, ms", inTime.Length == 0 ? double.NaN : inTime.Max().TotalMilliseconds, null),
            new("tries", times.Length, null),
            new("new connects a second", connects / Stopwatch.GetElapsedTime(start).TotalSeconds, null),
        ];
    }

    /// <summary>A new client's first round trip. Null: not within the limit.</summary>
    private async Task<TimeSpan?> TryAsync(AttackServer server, CancellationToken cancellation)
    {
        long start = Stopwatch.GetTimestamp();
        await using DealerSocket client = server.Connect(transport);
        using var limit = CancellationTokenSource.CreateLinkedTokenSource(cancellation);
        limit.CancelAfter(Limit);
        try
        {
            await client.SendAsync("in"u8.ToArray(), limit.Token);
            using Message answer = await client.ReceiveAsync(limit.Token);
            return Stopwatch.GetElapsedTime(start);
        }
        catch (OperationCanceledException) when (!cancellation.IsCancellationRequested)
        {
            return null;
        }
    }
}
