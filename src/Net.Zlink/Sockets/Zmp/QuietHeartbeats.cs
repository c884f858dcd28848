using Net.Zlink.Engine;

namespace Net.Zlink.Sockets.Zmp;

/// <summary>
/// When the next heartbeat of a connection is due that sends them only if nothing comes in. Without any, a peer that has got a ttl would
/// take a side that only listens for dead, so one goes out within that ttl. On the shard.
/// </summary>
internal sealed class QuietHeartbeats(ZmpSession session, HeartbeatSettings settings)
{
    // A heartbeat with its answer costs some 10 us of processor time. 10,000 a second would be a tenth of a processor.
    private static readonly TimeSpan RestOfOne = TimeSpan.FromMilliseconds(1);

    private static readonly TimeSpan LongestRest = TimeSpan.FromSeconds(10);

    private readonly TimeProvider _time = session.Connection.Shard.Timers.Time;
    private readonly TimeSpan _longest = settings.TtlTenths > 0 ? TimeSpan.FromMilliseconds(100.0 * settings.TtlTenths) * 2 / 3
        : LongestRest > settings.Interval ? LongestRest : settings.Interval;

    private long? _sentAt;
    private long _answeredAt;
    private long _writes;
    private bool _isStarted;

    /// <summary>The next heartbeat comes later than the interval says.</summary>
    public bool IsResting { get; set; }

    public void Start()
    {
        _isStarted = true;
        session.Heartbeating.Add(1);
    }

    public void Stop()
    {
        if (_isStarted)
        {
            _isStarted = false;
            session.Heartbeating.Add(-1);
        }
    }

    public void OnSent()
    {
        _sentAt = _time.GetTimestamp();
        _answeredAt = -1;
        IsResting = false;
    }

    /// <summary>The answer itself is no reason to wait with the next one.</summary>
    public void OnAnswer()
    {
        _answeredAt = session.Connection.LastReadAt;
        _writes = session.Connection.Writes;
    }

    /// <summary>How long the next heartbeat is not due yet; zero or less: it is.</summary>
    public TimeSpan TimeLeft()
    {
        if (_sentAt is not { } sentAt)
        {
            return TimeSpan.Zero;
        }

        Connection connection = session.Connection;
        TimeSpan sinceSent = _time.GetElapsedTime(sentAt);
        bool isAnswerLast = connection.LastReadAt == _answeredAt;
        TimeSpan left = settings.Interval - (isAnswerLast ? sinceSent : connection.SinceLastRead);
        IsResting = isAnswerLast && connection.Writes == _writes && Rest > settings.Interval;
        left = IsResting ? Rest - sinceSent : left;
        return left < _longest - sinceSent ? left : _longest - sinceSent;
    }

    private TimeSpan Rest
    {
        get
        {
            TimeSpan rest = RestOfOne * session.Heartbeating.Count;
            return rest > _longest ? _longest : rest;
        }
    }
}
