using System.Net.Sockets;
using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Transports;

namespace Net.Zlink.Sockets.Endpoints;

internal static class TransportHandshake
{
    // The native number of the reason "handshake failed".
    private const long FailedReason = 3;

    /// <summary>The task never fails. The wire's socket belongs to the result, or is disposed.</summary>
    public static Task<UpgradeResult> AcceptAsync(
        WireUpgrade upgrade, Wire accepted, RedactedEndpoint endpoint, EngineHost host, SocketMonitors monitors,
        CancellationToken cancellation)
    {
        string local = accepted.LocalTextOfAccepted(endpoint);
        string remote = accepted.RemoteText(endpoint);
        monitors.Publish(SocketEventTypes.Accepted, accepted.Handle, local, remote);
        Task<UpgradeResult> running = host.Handshakes.RunAsync(upgrade, (SocketWire)accepted, host.Pool, cancellation);
        return ReportAsync(upgrade, running, endpoint, local, remote, isAccepted: true, host, monitors);
    }

    public static async Task<UpgradeResult> ConnectAsync(
        WireUpgrade upgrade, Wire dialled, WireEndpoint target, EngineHost host, SocketMonitors monitors, CancellationToken cancellation)
    {
        string local = dialled.LocalText(target.Redacted);
        monitors.Publish(SocketEventTypes.Connected, dialled.Handle, local, target.Redacted);
        // Leave the caller's stack or shard: with a fast local peer the whole handshake may complete synchronously, with the application's
        // callbacks.
        await Task.CompletedTask.ConfigureAwait(ConfigureAwaitOptions.ForceYielding);
        Task<UpgradeResult> running = upgrade.RunAsync((SocketWire)dialled, host.Pool, host.Time, waits: null, cancellation);
        return await ReportAsync(upgrade, running, target.Redacted, local, target.Redacted, isAccepted: false, host, monitors)
            .ConfigureAwait(false);
    }

    private static async Task<UpgradeResult> ReportAsync(
        WireUpgrade upgrade, Task<UpgradeResult> running, RedactedEndpoint endpoint, RedactedEndpoint local, RedactedEndpoint remote,
        bool isAccepted, EngineHost host, SocketMonitors monitors)
    {
        UpgradeResult result = await running.ConfigureAwait(false);
        if (upgrade.Staleness is { } why)
        {
            host.Warnings.FilesNotRenewed(endpoint, why);
        }

        if (result.Wire is null && result.Error != SocketError.OperationAborted)
        {
            monitors.Publish(SocketEventTypes.HandshakeFailedNoDetail, EndpointError.ErrnoOf(result.Error), local, remote,
                detail: result.Sentence);
            monitors.Publish(SocketEventTypes.Disconnected, FailedReason, local, remote, detail: result.Sentence);
            if (isAccepted)
            {
                EndpointEvents.HandshakeFailed(host, endpoint, remote, result.Cause, result.Sentence);
            }
        }

        if (result.ErrorResponse is { } errorResponse)
        {
            await errorResponse.ConfigureAwait(false);
        }

        return result;
    }
}
