namespace Net.Zlink.Extensions.Hosting;

/// <summary>Thresholds of the health check of a context. Each figure counts from its threshold on.</summary>
public sealed class ContextHealthOptions
{
    /// <summary>How long shards waited for the thread pool since the last look, on the average of their turns, in milliseconds.
    /// Default: degraded at 50, unhealthy at 500: the thread pool is starved.</summary>
    public HealthThreshold ShardDelay { get; set; } = new(50, 500);

    /// <summary>Buffers that had to be allocated since the last look, as a part of those that were rented. Counts from 1,000 rented ones
    /// on. Default: degraded at 0.5, never unhealthy.</summary>
    public HealthThreshold PoolMisses { get; set; } = new(0.5, null);

    /// <summary>Bytes in all queues, as a part of <see cref="ZlinkContextOptions.QueuedByteLimit"/>. Default: degraded at 0.5, unhealthy
    /// at 0.9.</summary>
    public HealthThreshold QueuedBytes { get; set; } = new(0.5, 0.9);
}
