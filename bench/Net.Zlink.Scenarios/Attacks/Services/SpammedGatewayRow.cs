using System.Diagnostics;

namespace Net.Zlink.Scenarios.Attacks;

/// <summary>A listed receiver that sends what nobody asked for, to a gateway with a small heap that only asks another one.</summary>
internal sealed class SpammedGatewayRow() : AttackRow("services-unasked")
{
    private const int HeapMegabytes = 96;
    private const int Mebibyte = 1 << 20;
    private const int SpamSize = 65_000;
    private const double MostHeap = 48;
    private const double LeastShare = 0.9;

    private static readonly TimeSpan s_warm = TimeSpan.FromSeconds(2);

    private volatile bool _spams;

    public override async Task<IReadOnlyList<AttackFigure>> RunAsync(TimeSpan time, CancellationToken cancellation)
    {
        await using var context = new ZlinkContext(new ZlinkContextOptions { DefaultLinger = TimeSpan.Zero });
        await using var honest = new HonestReceiver(context);
        RouterSocket liar = context.CreateRouter();
        string endpoint = liar.Bind("tcp://127.0.0.1:*");
        await using ServedProcess gateway = await ServedProcess.StartAsync(
            [VictimCommand.Name, "--role", VictimCommand.AsGateway, "--endpoint", honest.Endpoint, "--endpoint", endpoint],
            HeapMegabytes * Mebibyte, cancellation);
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(cancellation);
        Task<long> lying = Task.Run(() => LieAsync(liar, stop.Token), CancellationToken.None);
        double before = await RateAsync(gateway, s_warm, cancellation);
        _spams = true;
        double during = await RateAsync(gateway, time, cancellation);
        ServedState? state = await gateway.AskAsync(cancellation);
        await stop.CancelAsync();
        long spam = await lying;
        return
        [
            new("gateway alive", state is null ? 0 : 1, 1, AtLeast: true),
            new("heap, MB", state?.HeapMegabytes ?? double.NaN, MostHeap),
            new("requests, share of the rate before", during / before, LeastShare, AtLeast: true),
            new("unasked messages", spam, 1, AtLeast: true),
        ];
    }

    /// <summary>Answered requests a second; 0 if the process has ended.</summary>
    private static async Task<double> RateAsync(ServedProcess process, TimeSpan time, CancellationToken cancellation)
    {
        long from = (await process.AskAsync(cancellation))?.Received ?? 0;
        long start = Stopwatch.GetTimestamp();
        await Task.Delay(time, cancellation);
        return await process.AskAsync(cancellation) is { } state
            ? (state.Received - from) / Stopwatch.GetElapsedTime(start).TotalSeconds : 0;
    }

    /// <summary>Sends plain messages as fast as they are taken, once it is told to.</summary>
    private async Task<long> LieAsync(RouterSocket liar, CancellationToken stop)
    {
        byte[] spam = new byte[SpamSize];
        long sent = 0;
        while (!stop.IsCancellationRequested)
        {
            long before = sent;
            foreach (PeerInfo peer in liar.GetPeers())
            {
                sent += _spams && liar.To(peer.RoutingId).TrySend(spam) ? 1 : 0;
            }

            if (sent == before || sent % 64 == 0)
            {
                await Task.Delay(1, stop).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            }
        }

        return sent;
    }
}
