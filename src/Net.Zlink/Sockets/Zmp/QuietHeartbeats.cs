using Net.Zlink.Engine;
using Net.Zlink.Sockets.Links;

namespace Net.Zlink.Sockets.Zmp;

/// <summary>
/// When the next heartbeat of a connection is due that sends them only if nothing comes in. Without any, a peer that has got a ttl would
/// take a side that only listens for dead, so one goes out within that ttl. On the shard.
/// </summary>
internal sealed class QuietHeartbeats(ZmpSession session, HeartbeatSettings settings)
{
    // A heartbeat with its answer costs 10 to 20 us of processor time. So many a second are half a percent of a processor.
    private static readonly TimeSpan IntervalPerConnection = TimeSpan.FromMilliseconds(4);

    private static readonly TimeSpan LongestInterval = TimeSpan.FromSeconds(60);

    private readonly TimeProvider _time = session.Connection.Shard.Timers.Time;
    private ushort _announced = settings.TtlTenths;
    private long? _sentAt;
    private long _answeredAt;
    private long _writes;
    private bool _isStarted;

    /// <summary>The next heartbeat comes later than the interval says.</summary>
    public bool IsQuiet { get; set; }

    public void Start()
    {
        _isStarted = true;
        session.Host.CountHeartbeating(1);
    }

    public void Stop()
    {
        if (_isStarted)
        {
            _isStarted = false;
            session.Host.CountHeartbeating(-1);
        }
    }

    /// <summary>What the next heartbeat announces: on a connection at rest the time until the one behind it, and half of that.</summary>
    public ushort Announce()
    {
        double rest = QuietInterval.TotalMilliseconds / 100 * 3 / 2;
        return _announced = IsQuiet && settings.TtlTenths > 0 && rest > settings.TtlTenths ? (ushort)rest : settings.TtlTenths;
    }

    public void OnSent()
    {
        _sentAt = _time.GetTimestamp();
        _answeredAt = -1;
        IsQuiet = false;
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
        IsQuiet = isAnswerLast && connection.Writes == _writes && QuietInterval > settings.Interval;
        left = IsQuiet ? OnGrid(QuietInterval - sinceSent) : left;
        TimeSpan longest = _announced > 0 ? TimeSpan.FromMilliseconds(100.0 * _announced) * 2 / 3 : LongestInterval;
        return left < longest - sinceSent ? left : longest - sinceSent;
    }

    /// <summary>
    /// Those that rest send together, once an interval: one by one, each wakes the process and its pool, which costs more than the
    /// heartbeat.
    /// </summary>
    private TimeSpan OnGrid(TimeSpan left)
    {
        TimeSpan now = _time.GetElapsedTime(0);
        long due = (now + left).Ticks;
        return TimeSpan.FromTicks(due - (due % settings.Interval.Ticks)) - now;
    }

    private TimeSpan QuietInterval
    {
        get
        {
            TimeSpan rest = IntervalPerConnection * session.Host.Heartbeating;
            return rest < LongestInterval ? rest : LongestInterval;
        }
    }
}
