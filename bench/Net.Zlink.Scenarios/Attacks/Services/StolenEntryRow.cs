using System.Diagnostics;
using System.Text;
using Net.Zlink.Services;

namespace Net.Zlink.Scenarios.Attacks;

/// <summary>A client at another address that unregisters an honest receiver, and sets its weight, again and again.</summary>
internal sealed class StolenEntryRow() : AttackRow("services-stolen-entry")
{
    private static readonly byte[] s_receiver = [1, 0];
    private static readonly TimeSpan s_between = TimeSpan.FromMilliseconds(1);

    public override async Task<IReadOnlyList<AttackFigure>> RunAsync(TimeSpan time, CancellationToken cancellation)
    {
        await using var context = new ZlinkContext();
        await using var registry = AttackedRegistry.Start(context);
        await using var honest = new HonestReceiver(context);
        honest.Receiver.ConnectRegistry(registry.RouterEndpoint);
        await honest.Receiver.RegisterAsync(VictimCommand.Service, cancellationToken: cancellation);
        await using var discovery = new RegistryDirectory(context);
        discovery.ConnectRegistry(registry.PublisherEndpoint);
        await discovery.WaitForAsync(VictimCommand.Service, cancellationToken: cancellation);

        byte[] service = Encoding.UTF8.GetBytes(VictimCommand.Service);
        byte[] endpoint = Encoding.UTF8.GetBytes(honest.Endpoint);
        long looks = 0;
        long wrong = 0;
        long tries = 0;
        long start = Stopwatch.GetTimestamp();
        using var thief = new RawClient(registry.RouterEndpoint, from: "127.0.0.2");
        while (Stopwatch.GetElapsedTime(start) < time)
        {
            tries += thief.TrySend([3, 0], s_receiver, service, endpoint) ? 1 : 0;
            tries += thief.TrySend([7, 0], s_receiver, service, endpoint, [0xFF, 0xFF, 0xFF, 0xFF]) ? 1 : 0;
            await Task.Delay(s_between, cancellation);
            looks++;
            wrong += discovery.GetService(VictimCommand.Service).Instances is [{ Weight: 1 }] ? 0 : 1;
        }

        return
        [
            new("looks that saw it missing or changed", wrong, 0),
            new("looks", looks, 1, AtLeast: true),
            new("tries", tries, 1, AtLeast: true),
        ];
    }
}
