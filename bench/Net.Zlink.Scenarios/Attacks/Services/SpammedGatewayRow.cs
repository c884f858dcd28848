using System.Diagnostics;

namespace Net.Zlink.Scenarios.Attacks;

/// <summary>A listed receiver that sends what nobody asked for, to a gateway with a small heap that receives nothing but
/// replies.</summary>
internal sealed class SpammedGatewayRow() : AttackRow("services-unasked")
{
    private const int HeapMegabytes = 96;
    private const int Mebibyte = 1 << 20;
    private const int SpamSize = 65_000;
    private const double MostHeap = 48;
    private const double LeastShare = 0.9;

    // The two take turns, and the liar answers nothing, so that its requests fail until it is left out.
    private static readonly TimeSpan s_warm = TimeSpan.FromSeconds(2);

    public override async Task<IReadOnlyList<AttackFigure>> RunAsync(TimeSpan time, CancellationToken cancellation)
    {
        await using var context = new ZlinkContext(new ZlinkContextOptions { DefaultLinger = TimeSpan.Zero });
        await using var honest = new HonestReceiver(context);
        RouterSocket liar = context.CreateRouter();
        string lying = liar.Bind("tcp://127.0.0.1:*");
        await using ServedProcess gateway = await ServedProcess.StartAsync(
            [VictimCommand.Name, "--role", VictimCommand.AsGateway, "--endpoint", honest.Endpoint, "--endpoint", lying],
            HeapMegabytes * Mebibyte, cancellation);
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(cancellation);
        Task<long> answering = Task.Run(() => LieAsync(liar, stop.Token), CancellationToken.None);
        double before = await RateAsync(gateway, s_warm, cancellation);
        _spams = true;
        double during = await RateAsync(gateway, time, cancellation);
        ServedState? state = await gateway.AskAsync(cancellation);
        await stop.CancelAsync();
        long spam = await answering;
        return
        [
            new("gateway alive", state is null ? 0 : 1, 1, AtLeast: true),
            new("heap, MB", state?.HeapMegabytes ?? double.NaN, MostHeap),
            new("requests, share of the rate before", during / before, LeastShare, AtLeast: true),
            new("unasked messages", spam, 1, AtLeast: true),
        ];
    }

    private volatile bool _spams;

    /// <summary>Answered requests a second; 0 if the process has ended.</summary>
    internal static async Task<double> RateAsync(ServedProcess process, TimeSpan time, CancellationToken cancellation)
    {
        long from = (await process.AskAsync(cancellation))?.Received ?? 0;
        long start = Stopwatch.GetTimestamp();
        await Task.Delay(time, cancellation);
        return await process.AskAsync(cancellation) is { } state
            ? (state.Received - from) / Stopwatch.GetElapsedTime(start).TotalSeconds : 0;
    }

    /// <summary>Answers each request as an honest one would by another library, with plain messages, and sends far more of
    /// them.</summary>
    private async Task<long> LieAsync(RouterSocket liar, CancellationToken stop)
    {
        byte[] spam = new byte[SpamSize];
        long sent = 0;
        while (!stop.IsCancellationRequested)
        {
            while (liar.TryReceive(out Message request))
            {
                request.Dispose();
            }

            foreach (PeerInfo peer in liar.GetPeers())
            {
                sent += _spams && liar.TrySend(peer.RoutingId.Span, spam, out _) ? 1 : 0;
            }

            if (!_spams || sent % 64 == 0)
            {
                await Task.Delay(1, stop).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            }
        }

        return sent;
    }
}
