using Net.Zlink.Services;

namespace Net.Zlink.Scenarios.Attacks;

/// <summary>Six gateways that ask a receiver with slow handlers and a small heap far more, in large requests, than it can
/// answer.</summary>
internal sealed class ReadAheadRow() : AttackRow("services-large-requests")
{
    private const int HeapMegabytes = 96;
    private const int Mebibyte = 1 << 20;
    private const int Gateways = 6;
    private const int AtATime = 64;

    private static readonly TimeSpan s_timeout = TimeSpan.FromSeconds(1);

    public override async Task<IReadOnlyList<AttackFigure>> RunAsync(TimeSpan time, CancellationToken cancellation)
    {
        await using ServedProcess receiver = await ServedProcess.StartAsync(
            [VictimCommand.Name, "--role", VictimCommand.AsReceiver], HeapMegabytes * Mebibyte, cancellation);
        using (var stop = CancellationTokenSource.CreateLinkedTokenSource(cancellation))
        await using (var context = new ZlinkContext(new ZlinkContextOptions { DefaultLinger = TimeSpan.Zero }))
        {
            stop.CancelAfter(time);
            byte[] payload = new byte[Mebibyte];
            var directory = new StaticDirectory(new ServiceInstance(VictimCommand.Service, receiver.Endpoint));
            ServiceGateway[] gateways = [.. Enumerable.Range(0, Gateways).Select(_ => new ServiceGateway(context, directory))];
            await Task.WhenAll(gateways.SelectMany(
                gateway => Enumerable.Range(0, AtATime).Select(_ => AskAsync(gateway, payload, stop.Token))));
        }

        ServedState? state = receiver.HasExited ? null : await receiver.AskAsync(cancellation);
        return
        [
            new("receiver alive", state is null ? 0 : 1, 1, AtLeast: true),
            new("requests executed", state?.Received ?? double.NaN, 1, AtLeast: true),
            new("heap afterwards, MB", state?.HeapMegabytes ?? double.NaN, null),
        ];
    }

    private static async Task AskAsync(ServiceGateway gateway, byte[] payload, CancellationToken stop)
    {
        while (!stop.IsCancellationRequested)
        {
            try
            {
                using ServiceReply reply = await gateway.GetClient(VictimCommand.Service).RequestAsync(payload, s_timeout, stop);
            }
            catch (Exception e) when (e is ServiceException or TimeoutException or OperationCanceledException)
            {
                await Task.Yield(); // It asks again at once.
            }
        }
    }
}
