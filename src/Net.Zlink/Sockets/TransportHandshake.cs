using System.Net;
using System.Net.Sockets;
using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Transports;

namespace Net.Zlink.Sockets;

internal static class TransportHandshake
{
    // The native number of the reason "handshake failed".
    private const long FailedReason = 3;

    /// <summary>The task never fails. The socket belongs to the result, or is disposed.</summary>
    public static Task<UpgradeResult> AcceptAsync(
        WireUpgrade upgrade, Socket socket, string endpoint, string scheme, EngineHost host, SocketMonitors monitors,
        CancellationToken cancellation)
    {
        string local = Endpoints.FormatLocal(KernelWire.AddressOf(socket, remote: false), scheme, endpoint);
        string remote = Endpoints.Format(KernelWire.AddressOf(socket, remote: true), scheme, endpoint);
        monitors.Publish(SocketEventTypes.Accepted, socket.Handle, local, remote);
        return ReportAsync(upgrade, host.Handshakes.RunAsync(upgrade, socket, host.Pool, cancellation), endpoint, local, remote,
            isAccepted: true, host, monitors);
    }

    public static Task<UpgradeResult> ConnectAsync(
        WireUpgrade upgrade, Socket socket, ConnectTarget target, EngineHost host, SocketMonitors monitors, CancellationToken cancellation)
    {
        string local = Endpoints.Format(KernelWire.AddressOf(socket, remote: false), target.Scheme, target.RedactedText);
        monitors.Publish(SocketEventTypes.Connected, socket.Handle, local, target.RedactedText);
        return ReportAsync(upgrade, RunOnPoolAsync(upgrade, socket, host, cancellation), target.RedactedText, local, target.RedactedText,
            isAccepted: false, host, monitors);
    }

    private static async Task<UpgradeResult> RunOnPoolAsync(
        WireUpgrade upgrade, Socket socket, EngineHost host, CancellationToken cancellation)
    {
        // Leave the caller's stack or shard: with a fast local peer the whole handshake may complete synchronously, with the application's
        // callbacks.
        await Task.CompletedTask.ConfigureAwait(ConfigureAwaitOptions.ForceYielding);
        return await upgrade.RunAsync(socket, host.Pool, host.Time, waits: null, cancellation).ConfigureAwait(false);
    }

    private static async Task<UpgradeResult> ReportAsync(
        WireUpgrade upgrade, Task<UpgradeResult> running, string endpoint, string local, string remote, bool isAccepted, EngineHost host,
        SocketMonitors monitors)
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
