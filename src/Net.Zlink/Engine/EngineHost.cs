using Microsoft.Extensions.Logging;
using Net.Zlink.Buffers;
using Net.Zlink.Monitoring;

namespace Net.Zlink.Engine;

/// <summary>What every socket of a context shares: shards, pool, slabs, byte budget, clock and log.</summary>
internal sealed class EngineHost : IDisposable
{
    public EngineHost(int shards, BufferPool pool, TimeProvider time, ILogger logger, IShardObserver observer, int streamedShards = 0, int handshakes = HandshakeLimiter.Default)
    {
        Pool = pool;
        Time = time;
        Logger = logger;
        Handshakes = new HandshakeLimiter(handshakes, time);
        Warnings = new PeerWarnings(logger, time);
        Slabs = new Slab.SlabCache(pool);
        Shards = new ShardSet(shards, streamedShards, observer, time, Slabs);
    }

    public BufferPool Pool { get; }

    public Slab.SlabCache Slabs { get; }

    public ShardSet Shards { get; }

    public HandshakeLimiter Handshakes { get; }

    /// <summary>How much may wait in all queues together; null: no limit.</summary>
    public ByteBudget? Budget { get; init; }

    /// <summary>How much may have come of messages that are not whole; null: no limit.</summary>
    public FairLimit? Unfinished { get; init; }

    /// <summary>How much the topics of subscribers that came by a wire may take up; null: no limit.</summary>
    public FairLimit? Subscriptions { get; init; }

    public TimeProvider Time { get; }

    public ILogger Logger { get; }

    public PeerWarnings Warnings { get; }

    public OwnEndpoints OwnEndpoints { get; } = new();

    public void Dispose() => Shards.Dispose();
}
