using Microsoft.Extensions.Logging;
using Net.Zlink.Buffers;
using Net.Zlink.Monitoring;

namespace Net.Zlink.Engine;

internal sealed class EngineHost : IDisposable
{
    public EngineHost(
        int shards,
        BufferPool pool,
        TimeProvider time,
        ILogger logger,
        IShardObserver observer,
        int streamedShards = 0,
        int handshakes = HandshakeLimiter.Default)
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

    public ContextQuota? Queued { get; init; }

    public FairLimit? Unfinished { get; init; }

    public FairLimit? Subscriptions { get; init; }

    public TimeProvider Time { get; }

    public ILogger Logger { get; }

    public PeerWarnings Warnings { get; }

    public OwnEndpoints OwnEndpoints { get; } = new();

    public HeartbeatingConnections Heartbeating { get; } = new();

    public void Dispose() => Shards.Dispose();
}

/// <summary>Counts the connections of a context that send heartbeats only if nothing comes in. Any thread.</summary>
internal sealed class HeartbeatingConnections
{
    private int _count;

    public int Count => Volatile.Read(ref _count);

    public void Add(int change) => Interlocked.Add(ref _count, change);
}

/// <summary>
/// The former endpoints of this context's listeners. The shutdown does not wait for messages to them: a test that binds, connects, sends
/// and disposes before the handshake would take the whole shutdown timeout.
/// </summary>
internal sealed class OwnEndpoints
{
    // Limits a program that binds one port after another for years; a test binds some dozens.
    private const int MaxEndpoints = 1_000;

    private readonly Lock _gate = new();
    private readonly HashSet<string> _former = new(StringComparer.Ordinal);
    private bool _isEnding;

    public void End()
    {
        lock (_gate)
        {
            _isEnding = true;
        }
    }

    public void Enter(string endpoint)
    {
        lock (_gate)
        {
            _former.Remove(endpoint);
        }
    }

    public void Leave(string endpoint)
    {
        lock (_gate)
        {
            if (_former.Count < MaxEndpoints)
            {
                _former.Add(endpoint);
            }
        }
    }

    public bool IsGone(string endpoint)
    {
        lock (_gate)
        {
            return _isEnding && _former.Contains(endpoint);
        }
    }
}
