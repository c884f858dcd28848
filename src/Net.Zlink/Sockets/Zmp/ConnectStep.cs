using System.Net.Sockets;
using Net.Zlink.Monitoring;
using Net.Zlink.Transports;

namespace Net.Zlink.Sockets.Zmp;

/// <summary>How a connecter comes to a wire: it dials, and does the transport's own handshake where that has one.</summary>
internal sealed class ConnectStep(SocketCore socket, ConnectTarget target, TransportSettings settings)
{
    // One for all attempts: it keeps what certificates' files held before they were half written.
    private readonly WireUpgrade? _upgrade = target.Upgrade(settings);

    /// <summary>One attempt.</summary>
    /// <returns>The wire, or null and why there is none, for people.</returns>
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

        // As in the native core a name that was not found closes nothing: all there is to tell is when it will be looked up again.
        if (result.Error is not (SocketError.HostNotFound or SocketError.NoData or SocketError.TryAgain or SocketError.NoRecovery))
        {
            socket.Monitors.Publish(SocketEventTypes.Closed, 0, "", target.Text, detail: result.Sentence);
        }

        return (null, result.Sentence);
    }

    /// <summary>It fails like a dial: pauses grow, since the next attempt is likely to meet the same.</summary>
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
