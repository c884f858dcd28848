using System.Net.Sockets;
using Net.Zlink.Monitoring;
using Net.Zlink.Sockets.Endpoints;
using Net.Zlink.Transports;

namespace Net.Zlink.Sockets.Zmp;

internal sealed class ConnectStep(SocketCore socket, WireEndpoint target, TransportSettings settings)
{
    // Shared by all attempts, because it keeps the certificates of the last complete files.
    private readonly WireUpgrade? _upgrade = target.DialUpgrade(settings);

    public async Task<(Wire? Wire, string Problem)> RunAsync(CancellationToken ended)
    {
        DialResult result = await target.DialAsync(
            settings, socket.Host.Time, () => EndpointEvents.Connecting(socket.Monitors, target.Redacted), ended).ConfigureAwait(false);
        if (result.Wire is { } wire)
        {
            return _upgrade is null ? (wire, "") : await UpgradeAsync(_upgrade, wire, ended).ConfigureAwait(false);
        }

        ended.ThrowIfCancellationRequested();

        if (result.Error is not (SocketError.HostNotFound or SocketError.NoData or SocketError.TryAgain or SocketError.NoRecovery))
        {
            socket.Monitors.Publish(SocketEventTypes.Closed, 0, "", target.Redacted, detail: result.Sentence);
        }

        return (null, result.Sentence);
    }

    /// <summary>A failure counts like a failed dial: the pauses grow, because the next attempt probably fails too.</summary>
    private async Task<(Wire? Wire, string Problem)> UpgradeAsync(WireUpgrade upgrade, Wire dialled, CancellationToken ended)
    {
        UpgradeResult result = await TransportHandshake.ConnectAsync(upgrade, dialled, target, socket.Host, socket.Monitors, ended)
            .ConfigureAwait(false);
        if (result.Wire is not null)
        {
            return (result.Wire, "");
        }

        ended.ThrowIfCancellationRequested();
        socket.Counters.FailedHandshakes.Count(result.Cause);
        return (null, result.Sentence);
    }
}
