namespace Net.Zlink.Extensions.Hosting;

/// <summary>Thresholds of the health check of a socket. Each figure counts from its threshold on.</summary>
public sealed class SocketHealthOptions
{
    /// <summary>Messages that wait to be written, to all peers together. Default: degraded at 10,000, unhealthy at 100,000.</summary>
    public HealthThreshold QueuedMessages { get; set; } = new(10_000, 100_000);

    /// <summary>Messages that wait to be received. Default: degraded at 10,000, unhealthy at 100,000.</summary>
    public HealthThreshold UnreadMessages { get; set; } = new(10_000, 100_000);

    /// <summary>Messages that were dropped since the last look, of all causes that lose data. Default: degraded at 1, unhealthy at
    /// 1,000.</summary>
    public HealthThreshold DroppedMessages { get; set; } = new(1, 1_000);

    /// <summary>Peers that are connected: counts below its thresholds. Null (default): a socket that connects is unhealthy without a
    /// peer, and degraded with fewer than it connects to; one that only binds needs none.</summary>
    public HealthThreshold? ConnectedPeers { get; set; }
}
