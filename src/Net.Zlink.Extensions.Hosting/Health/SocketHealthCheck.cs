using Microsoft.Extensions.Diagnostics.HealthChecks;

namespace Net.Zlink.Extensions.Hosting;

/// <summary>Keeps the drops of the last look.</summary>
internal sealed class SocketHealthCheck(ZlinkSocket socket, SocketHealthOptions options) : IHealthCheck
{
    private long _lastDropped;

    public Task<HealthCheckResult> CheckHealthAsync(HealthCheckContext context, CancellationToken cancellationToken = default)
    {
        var findings = new HealthFindings();
        SocketFigures figures = SocketFigures.Of(socket);
        long dropped = figures.Dropped - Interlocked.Exchange(ref _lastDropped, figures.Dropped);
        findings.AtMost("queued messages", figures.Queued, options.QueuedMessages);
        findings.AtMost("unread messages", figures.Unread, options.UnreadMessages);
        findings.AtMost("dropped messages", dropped, options.DroppedMessages);
        int connects = socket.ConnectedEndpoints.Count;
        HealthThreshold peers = options.ConnectedPeers ?? (connects == 0 ? new HealthThreshold() : new HealthThreshold(connects, 1));
        findings.AtLeast("connected peers", figures.ConnectedPeers, peers, figures.WhyNotConnected);
        return Task.FromResult(findings.Result($"{figures.ConnectedPeers} peers"));
    }
}
