using System.Collections.Concurrent;
using Microsoft.Extensions.Logging;
using Net.Zlink.Buffers;
using Net.Zlink.Monitoring;

namespace Net.Zlink.Engine;

internal sealed class EngineHost : IDisposable
{
    private int _heartbeating;

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

    /// <summary>The connections that send heartbeats only if nothing comes in. Any thread.</summary>
    public int Heartbeating => Volatile.Read(ref _heartbeating);

    public void CountHeartbeating(int change) => Interlocked.Add(ref _heartbeating, change);

    public void Dispose() => Shards.Dispose();
}

/// <summary>
/// The former endpoints of this context's listeners. The shutdown does not wait for messages to them: a test that binds, connects, sends
/// and disposes before the handshake would take the whole shutdown timeout.
/// </summary>
internal sealed class OwnEndpoints
{
    // Limits a program that binds one port after another for years; a test binds some dozens.
    private const int MaxEndpoints = 1_000;

    private readonly ConcurrentDictionary<string, bool> _former = new(StringComparer.Ordinal);
    private volatile bool _isEnding;

    public void End() => _isEnding = true;

    public void Enter(string endpoint) => _former.TryRemove(endpoint, out _);

    public void Leave(string endpoint) => _ = _former.Count < MaxEndpoints && _former.TryAdd(endpoint, true);

    public bool IsGone(string endpoint) => _isEnding && _former.ContainsKey(endpoint);
}
