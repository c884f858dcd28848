namespace Net.Zlink.Services;

/// <summary>Where a link stands that is connected.</summary>
internal enum LinkStanding
{
    /// <summary>It gets its share.</summary>
    In,

    /// <summary>It gets nothing: its receiver left requests unanswered.</summary>
    Out,

    /// <summary>Its pause is over and a heartbeat was answered: it gets the next ordinary request.</summary>
    Probed,

    /// <summary>That request is under way.</summary>
    OnTrial,
}

/// <summary>Whether the receiver behind a link answers what it is asked: which time-outs count, when it is taken out, and for how long. A
/// state machine without input, output and clock. Not thread-safe.</summary>
/// <param name="row">So many counted time-outs in a row take it out; 0: it is never taken out.</param>
internal sealed class LinkHealth(int row)
{
    public static readonly TimeSpan FirstPause = TimeSpan.FromSeconds(5);

    public static readonly TimeSpan LongestPause = TimeSpan.FromSeconds(60);

    /// <summary>The interval of checks while the heartbeat is not answered.</summary>
    public static readonly TimeSpan CheckInterval = TimeSpan.FromSeconds(1);

    private int _timeOuts;
    private DateTimeOffset _firstTimeOut;
    private long _answeredByOthers;
    private DateTimeOffset _since;

    public LinkStanding Standing { get; private set; }

    /// <summary>Of the present or the last time out of rotation.</summary>
    public TimeSpan Pause { get; private set; }

    /// <summary>When the next check of an ejected link is due.</summary>
    public DateTimeOffset CheckAt { get; private set; } = DateTimeOffset.MaxValue;

    /// <summary>A message of its receiver would change something.</summary>
    public bool IsInDoubt => _timeOuts > 0 || Standing != LinkStanding.In;

    /// <summary>A request timed out that had its time, and nothing came over the link since it was sent.</summary>
    /// <param name="sentAt">When it was sent.</param>
    /// <param name="now">The time.</param>
    /// <param name="answeredByOthers">How many requests the other receivers of its services have answered in time so far.</param>
    /// <returns>True: it is to be taken out, if its services can do without it.</returns>
    public bool OnTimeOut(DateTimeOffset sentAt, DateTimeOffset now, long answeredByOthers)
    {
        if (Standing == LinkStanding.OnTrial && sentAt >= _since)
        {
            TakeOut(now);
            return false;
        }

        if (Standing != LinkStanding.In || row == 0)
        {
            return false;
        }

        if (_timeOuts++ == 0)
        {
            _firstTimeOut = now;
            _answeredByOthers = answeredByOthers;
        }

        // Many that were sent together are one sign, not many: one that was sent later has to be lost, too. And where nobody answers in
        // time it is not this receiver that is slow.
        return _timeOuts >= row && sentAt >= _firstTimeOut && answeredByOthers > _answeredByOthers;
    }

    /// <summary>Takes it out: for longer each time, unless it was in use meanwhile for as long as it was out before.</summary>
    public void TakeOut(DateTimeOffset now)
    {
        bool isRelapse = Standing != LinkStanding.In || (Pause > TimeSpan.Zero && now - _since < Pause);
        Pause = !isRelapse ? FirstPause : Pause * 2 < LongestPause ? Pause * 2 : LongestPause;
        Standing = LinkStanding.Out;
        _since = now;
        CheckAt = now + Pause;
        _timeOuts = 0;
    }

    /// <summary>A check is due.</summary>
    /// <param name="isHeartbeatAnswered">Something was received while the link was ejected, so its heartbeats work.</param>
    /// <param name="now">The time.</param>
    public void Check(bool isHeartbeatAnswered, DateTimeOffset now)
    {
        if (Standing == LinkStanding.Out && now >= CheckAt)
        {
            Standing = isHeartbeatAnswered ? LinkStanding.Probed : LinkStanding.Out;
            CheckAt = isHeartbeatAnswered ? DateTimeOffset.MaxValue : now + CheckInterval;
        }
    }

    /// <summary>One ordinary request is about to be sent to it.</summary>
    /// <returns>False: another one was first.</returns>
    public bool BeginTrial(DateTimeOffset now)
    {
        if (Standing != LinkStanding.Probed)
        {
            return false;
        }

        Standing = LinkStanding.OnTrial;
        _since = now;
        return true;
    }

    /// <summary>That request ended without telling anything: the next one is to.</summary>
    public void EndTrial(DateTimeOffset sentAt)
    {
        if (Standing == LinkStanding.OnTrial && sentAt >= _since)
        {
            Standing = LinkStanding.Probed;
        }
    }

    /// <summary>A message came from its receiver, or it is connected anew.</summary>
    /// <returns>True: it was out, and is in again.</returns>
    public bool OnReceived(DateTimeOffset now)
    {
        bool wasOut = Standing != LinkStanding.In;
        _timeOuts = 0;
        _since = wasOut ? now : _since;
        Standing = LinkStanding.In;
        CheckAt = DateTimeOffset.MaxValue;
        return wasOut;
    }
}
