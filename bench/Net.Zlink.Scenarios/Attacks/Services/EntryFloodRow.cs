using System.Diagnostics;
using System.Text;
using Net.Zlink.Services;

namespace Net.Zlink.Scenarios.Attacks;

/// <summary>A client that registers far more services than a list of 100,000 parts has room for; then an honest receiver
/// comes.</summary>
internal sealed class EntryFloodRow() : AttackRow("services-entries")
{
    // A list of more than 33,332 entries of one service each has more than 100,000 parts.
    private const int Entries = 40_000;

    // The list of so many has 5 MB, so that the pace of lists is a few a second.
    private const double SeenWithin = 5;

    private static readonly byte[] s_receiver = [1, 0];
    private static readonly TimeSpan s_limit = TimeSpan.FromSeconds(60);
    private static readonly TimeSpan s_look = TimeSpan.FromMilliseconds(20);

    public override async Task<IReadOnlyList<AttackFigure>> RunAsync(TimeSpan time, CancellationToken cancellation)
    {
        await using var context = new ZlinkContext();
        await using var registry = AttackedRegistry.Start(context);
        await using var discovery = new RegistryDirectory(context);
        discovery.ConnectRegistry(registry.PublisherEndpoint);
        using var flood = new RawClient(registry.RouterEndpoint, from: "127.0.0.2");
        for (int i = 0; i < Entries; i++)
        {
            byte[] service = Encoding.UTF8.GetBytes($"flood{i}");
            byte[] endpoint = Encoding.UTF8.GetBytes($"tcp://127.1.{i >> 8}.{i & 0xFF}:9");
            if (!flood.TrySend([1, 0], s_receiver, service, endpoint, [1, 0, 0, 0]))
            {
                throw new InvalidOperationException($"the registry ended the connection behind {i} entries");
            }
        }

        double listed = await SecondsUntilAsync(
            () => registry.GetSnapshot() is var now && now.OwnEntries + now.RefusedRequests >= Entries, cancellation);
        int entries = registry.GetSnapshot().OwnEntries;
        await using var honest = new HonestReceiver(context);
        honest.Receiver.ConnectRegistry(registry.RouterEndpoint);
        honest.Receiver.Register(VictimCommand.Service);
        double seen = await SecondsUntilAsync(() => discovery.IsAvailable(VictimCommand.Service), cancellation);
        return
        [
            new("seconds until a discovery saw an honest receiver", seen, SeenWithin),
            new("seconds for the flood", listed, null),
            new("entries", entries, null),
        ];
    }

    private static async Task<double> SecondsUntilAsync(Func<bool> isSo, CancellationToken cancellation)
    {
        long start = Stopwatch.GetTimestamp();
        while (!isSo())
        {
            if (Stopwatch.GetElapsedTime(start) > s_limit)
            {
                return double.NaN;
            }

            await Task.Delay(s_look, cancellation);
        }

        return Stopwatch.GetElapsedTime(start).TotalSeconds;
    }
}
