namespace Net.Zlink.Services;

/// <summary>How old the requests of one connection are when they arrive, by two clocks whose difference is not known. Without a clock of
/// its own: who asks says what time it is.</summary>
/// <remarks>
/// The smallest (arrival - sent) counts as age 0. It grows by <see cref="DriftDivisor"/> while no sample comes near it, which follows
/// clocks that drift. A clock that was set, or a machine that stood still, moves all later samples at once. They are believed as soon as
/// samples of <see cref="Trial"/> agree, and none of them can have waited at the receiver: requests that waited grow younger one by one.
/// </remarks>
internal sealed class ClockOffset
{
    /// <summary>Samples agree that differ by at most this. Smaller ages need no explanation.</summary>
    public static readonly TimeSpan Agreement = TimeSpan.FromMilliseconds(250);

    private const int DriftDivisor = 5000; // 200 millionths: twice what quartz clocks of two machines differ by.

    // With a request each 250 ms the refusals behind a jump last a second at most.
    private static readonly TimeSpan Trial = TimeSpan.FromMilliseconds(750);

    private TimeSpan _offset = TimeSpan.MaxValue;
    private TimeSpan _offsetAt;
    private bool _isOnTrial;
    private TimeSpan _first;
    private TimeSpan _smallest;
    private TimeSpan _since;
    private TimeSpan _lastAt;

    /// <summary>How long a request was on its way, beyond what is usual.</summary>
    /// <param name="now">By the receiver's clock, from its start on.</param>
    /// <param name="delay">Arrival less the time of sending, by two clocks.</param>
    public TimeSpan AgeOf(TimeSpan now, TimeSpan delay)
    {
        TimeSpan usual = _offset == TimeSpan.MaxValue ? delay : _offset + ((now - _offsetAt) / DriftDivisor);
        if (delay <= usual)
        {
            Take(now, delay);
        }

        return delay <= usual ? TimeSpan.Zero : delay - usual;
    }

    /// <summary>Looks whether an age of more than <see cref="Agreement"/> is the clocks' doing. Only for a request that did not wait behind
    /// others at the receiver.</summary>
    /// <returns>The age; small where the clocks have moved.</returns>
    public TimeSpan Judge(TimeSpan now, TimeSpan delay)
    {
        if (_isOnTrial && (delay - _first).Duration() <= Agreement)
        {
            _smallest = delay < _smallest ? delay : _smallest;
            _lastAt = now;
            if (now - _since >= Trial)
            {
                Take(now, _smallest);
            }
        }
        else if (!_isOnTrial || delay < _first || now - _lastAt >= Trial)
        {
            (_isOnTrial, _first, _smallest, _since, _lastAt) = (true, delay, delay, now, now);
        }

        return AgeOf(now, delay);
    }

    private void Take(TimeSpan now, TimeSpan offset) => (_offset, _offsetAt, _isOnTrial) = (offset, now, false);
}
