using System.Threading.Channels;

namespace Net.Zlink.Services;

/// <summary>Says since when messages of a node may be missing. Guarded by the lock of the <see cref="PeerSet"/>, but for what is
/// read.</summary>
internal sealed class PeerGaps
{
    // The enumeration is for programs that read gaps at once, so older ones are dropped.
    private const int MaxUnread = 1_000;

    // Endpoints that were disconnected, and when. Beyond this their return is no gap.
    private const int MaxCut = 1_000;

    // A shorter pause may be a busy machine; a longer one means that the whole process was suspended.
    private static readonly TimeSpan LeastPause = TimeSpan.FromSeconds(3);

    private readonly TimeProvider _clock;
    private readonly TimeSpan _longestSilence;
    private readonly Watchers<SpotGap> _watchers = new(MaxUnread, BoundedChannelFullMode.DropOldest);
    private readonly Dictionary<string, DateTimeOffset> _cut = new(StringComparer.Ordinal);
    private DateTimeOffset _lastTick;
    private DateTimeOffset _pauseBegan;
    private DateTimeOffset _pauseEnded;
    private long _count;

    /// <param name="clock">The context's.</param>
    /// <param name="heartbeats">Those of the socket: how long a connection may be dead before that is known.</param>
    public PeerGaps(TimeProvider clock, ZmpSocketOptions heartbeats)
    {
        _clock = clock;
        _longestSilence = heartbeats.HeartbeatInterval == TimeSpan.Zero ? TimeSpan.Zero
            : heartbeats.HeartbeatInterval + (heartbeats.HeartbeatTimeout ?? heartbeats.HeartbeatInterval);
        _lastTick = _pauseBegan = _pauseEnded = clock.GetUtcNow();
    }

    /// <summary>How often <see cref="OnTick"/> is called while a node is connected.</summary>
    public static TimeSpan TickInterval { get; } = TimeSpan.FromSeconds(2);

    public long Count => Interlocked.Read(ref _count);

    public IAsyncEnumerable<SpotGap> WatchAsync(CancellationToken cancellationToken) => _watchers.WatchAsync(cancellationToken);

    public void Complete() => _watchers.Complete();

    /// <summary>A process that stood still reads, when it goes on, what was published before: then the end of its connection looks
    /// recent.</summary>
    public void OnTick()
    {
        DateTimeOffset now = _clock.GetUtcNow();
        if (now - _lastTick >= LeastPause)
        {
            (_pauseBegan, _pauseEnded) = (_lastTick, now);
        }

        _lastTick = now;
    }

    /// <summary>A connection has ended, or is cut.</summary>
    public void OnLost(SpotPeer peer)
    {
        OnTick();
        DateTimeOffset now = _lastTick;
        DateTimeOffset worked = now - _longestSilence;
        worked = now - _pauseEnded <= _longestSilence && _pauseBegan < worked ? _pauseBegan : worked;
        peer.LostAt = worked > peer.ReadyAt ? worked : peer.ReadyAt;
    }

    /// <summary>It is forgotten; if it is named again, its messages were missed meanwhile.</summary>
    public void OnForgotten(SpotPeer peer)
    {
        if (peer.LostAt is { } lostAt)
        {
            if (_cut.Count == MaxCut)
            {
                _cut.Clear();
            }

            _cut[peer.Endpoint] = lostAt;
        }
    }

    public void OnNamed(SpotPeer peer) => peer.LostAt = _cut.Remove(peer.Endpoint, out DateTimeOffset lostAt) ? lostAt : null;

    /// <summary>It is connected.</summary>
    /// <returns>The gap before it, if there is one.</returns>
    public SpotGap? OnReady(SpotPeer peer)
    {
        peer.ReadyAt = _clock.GetUtcNow();
        if (peer.LostAt is not { } lostAt)
        {
            return null;
        }

        peer.LostAt = null;
        Interlocked.Increment(ref _count);
        return new SpotGap { Endpoint = peer.Redacted.ToString(), RoutingId = peer.Node!.Id, From = lostAt, Until = peer.ReadyAt };
    }

    public void Publish(SpotGap gap) => _watchers.Publish(gap);
}
