using System.Net.Sockets;
using Net.Zlink.Monitoring;
using Net.Zlink.Transports;

namespace Net.Zlink.Sockets.Zmp;

/// <summary>Makes a wire for a dialer: dials, then runs the transport's handshake.</summary>
internal sealed class ConnectStep(SocketCore socket, ConnectTarget target, TransportSettings settings)
{
    // Shared by all attempts, because it keeps the certificates of the last complete files.
    private readonly WireUpgrade? _upgrade = target.Upgrade(settings);

    /// <summary>Makes one attempt.</summary>
    /// <returns>The wire, or null and the reason.</returns>
    /// <exception cref="OperationCanceledException">The endpoint was closed meanwhile.</exception>
    public async Task<(Wire? Wire, string Trouble)> RunAsync(CancellationToken ended)
    {
        DialResult result = await target.DialAsync(
            settings, socket.Host.Time, () => EndpointEvents.Connecting(socket.Monitors, target.Text), ended).ConfigureAwait(false);
        if (result.Socket is { } transport)
        {
            return _upgrade is null ? (new SocketWire(transport, target.Scheme), "")
                : await UpgradeAsync(_upgrade, transport, ended).ConfigureAwait(false);
        }

        ended.ThrowIfCancellationRequested();

        // As in the native core, a failed name lookup publishes no CLOSED event, only the time of the next one.
        if (result.Error is not (SocketError.HostNotFound or SocketError.NoData or SocketError.TryAgain or SocketError.NoRecovery))
        {
            socket.Monitors.Publish(SocketEventTypes.Closed, 0, "", target.Text, detail: result.Sentence);
        }

        return (null, result.Sentence);
    }

    /// <summary>A failure counts like a failed dial: the pauses grow, because the next attempt probably fails too.</summary>
    private async Task<(Wire? Wire, string Trouble)> UpgradeAsync(WireUpgrade upgrade, Socket transport, CancellationToken ended)
    {
        UpgradeResult result = await TransportHandshake.ConnectAsync(upgrade, transport, target, socket.Host, socket.Monitors, ended)
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
