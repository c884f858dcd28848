namespace Net.Zlink.Porting;

/// <summary>Repeating timers that run where a program's own loop lets them: poll with <see cref="TimeUntilNext"/> as the timeout, then call
/// <see cref="Execute"/>.</summary>
/// <remarks>
/// Safe for any number of threads. Handlers run on the thread that calls Execute, outside all locks, and may add, change and cancel timers.
/// An exception of a handler leaves Execute; the timers that were due behind it run at the next call.
/// </remarks>
public sealed class ZlinkTimers
{
    private readonly TimeProvider _clock;
    private readonly Lock _gate = new();

    // By id, not by entry: what a timer was armed with before stays in it, to be skipped when it comes up, and must not keep a cancelled
    // timer's handler.
    private readonly PriorityQueue<int, (long Due, long Order)> _queue = new();
    private readonly Dictionary<int, Entry> _timers = [];
    private int _lastId;
    private long _order;

    /// <summary>No timers yet, on the system's clock.</summary>
    public ZlinkTimers()
        : this(TimeProvider.System)
    {
    }

    /// <summary>No timers yet.</summary>
    /// <param name="clock">What time it is.</param>
    /// <exception cref="ArgumentNullException"><paramref name="clock"/> is null.</exception>
    public ZlinkTimers(TimeProvider clock)
    {
        ArgumentNullException.ThrowIfNull(clock);
        _clock = clock;
    }

    /// <summary>Number of timers.</summary>
    public int Count
    {
        get
        {
            lock (_gate)
            {
                return _timers.Count;
            }
        }
    }

    /// <summary>Time until the next timer is due: zero if one is, null if there is none.</summary>
    public TimeSpan? TimeUntilNext
    {
        get
        {
            lock (_gate)
            {
                if (Next() is not { } next)
                {
                    return null;
                }

                long left = next.Due - _clock.GetTimestamp();
                return left <= 0 ? TimeSpan.Zero : RoundedUp(left);
            }
        }
    }

    /// <summary>Adds a timer that is due one interval from now, and then again one interval after each time it ran.</summary>
    /// <param name="interval">The interval; zero to be due at every Execute.</param>
    /// <param name="handler">Called with the timer's id.</param>
    /// <returns>The timer's id: 1 for the first, then the next number.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="handler"/> is null.</exception>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="interval"/> is negative.</exception>
    public int Add(TimeSpan interval, Action<int> handler)
    {
        ArgumentNullException.ThrowIfNull(handler);
        ArgumentOutOfRangeException.ThrowIfLessThan(interval, TimeSpan.Zero);
        lock (_gate)
        {
            var entry = new Entry(checked(++_lastId), handler) { Interval = interval };
            _timers.Add(entry.Id, entry);
            Arm(entry);
            return entry.Id;
        }
    }

    /// <summary>Takes a timer away; it does not run any more, except where a handler has begun.</summary>
    /// <param name="id">Its id.</param>
    /// <returns>False if there is none of that id (natively EINVAL).</returns>
    public bool Cancel(int id)
    {
        lock (_gate)
        {
            bool wasThere = _timers.Remove(id);
            LimitStale();
            return wasThere;
        }
    }

    /// <summary>Gives a timer another interval, and lets it begin anew: it is due one interval from now.</summary>
    /// <param name="id">Its id.</param>
    /// <param name="interval">The interval; zero to be due at every Execute.</param>
    /// <returns>False if there is none of that id (natively EINVAL).</returns>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="interval"/> is negative.</exception>
    public bool SetInterval(int id, TimeSpan interval)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(interval, TimeSpan.Zero);
        lock (_gate)
        {
            if (!_timers.TryGetValue(id, out Entry? entry))
            {
                return false;
            }

            entry.Interval = interval;
            Arm(entry);
            return true;
        }
    }

    /// <summary>Lets a timer begin anew: it is due one interval from now.</summary>
    /// <param name="id">Its id.</param>
    /// <returns>False if there is none of that id (natively EINVAL).</returns>
    public bool Reset(int id)
    {
        lock (_gate)
        {
            if (!_timers.TryGetValue(id, out Entry? entry))
            {
                return false;
            }

            Arm(entry);
            return true;
        }
    }

    /// <summary>Runs the handlers of all timers that are due, earliest first, each once.</summary>
    /// <returns>How many ran.</returns>
    public int Execute()
    {
        int count = 0;
        long now;
        long last;
        lock (_gate)
        {
            now = _clock.GetTimestamp();
            last = _order;
        }

        while (DequeueDue(now, last) is { } entry)
        {
            count++;
            entry.Handler(entry.Id);
        }

        return count;
    }

    /// <summary>The next timer that was due when Execute began, armed anew; one that was armed since is not due again.</summary>
    private Entry? DequeueDue(long now, long last)
    {
        lock (_gate)
        {
            if (Next() is not { } entry || entry.Due > now || entry.Order > last)
            {
                return null;
            }

            _queue.Dequeue();
            Arm(entry);
            return entry;
        }
    }

    /// <summary>The timer that is due next, first in the queue from here on.</summary>
    private Entry? Next()
    {
        while (_queue.TryPeek(out int id, out (long Due, long Order) armed))
        {
            if (_timers.TryGetValue(id, out Entry? entry) && entry.Order == armed.Order)
            {
                return entry;
            }

            _queue.Dequeue(); // Cancelled, or armed anew since.
        }

        return null;
    }

    private void Arm(Entry entry)
    {
        // Divided, not multiplied: an interval of years in a clock of nanoseconds would overflow.
        double ticks = entry.Interval.TotalSeconds * _clock.TimestampFrequency;
        long now = _clock.GetTimestamp();

        // Added as whole numbers: near 6e17, the ticks of a date, which some clocks count from, a double has steps of 128.
        entry.Due = ticks < long.MaxValue / 2d ? Math.Min(now, long.MaxValue / 2) + (long)ticks : long.MaxValue - 1;
        entry.Order = ++_order;
        _queue.Enqueue(entry.Id, (entry.Due, entry.Order));
        LimitStale();
    }

    /// <summary>Makes the queue anew where most of it is stale. That is rare: it takes as many calls again as there are timers.</summary>
    private void LimitStale()
    {
        // Each timer is in the queue once as it is armed now; the rest is stale.
        if (_queue.Count <= 2 * _timers.Count)
        {
            return;
        }

        _queue.Clear();
        foreach (Entry entry in _timers.Values)
        {
            _queue.Enqueue(entry.Id, (entry.Due, entry.Order));
        }
    }

    /// <summary>Rounded up to a millisecond, so that who waits that long does not come a moment too early, again and again.</summary>
    private TimeSpan RoundedUp(long timestamps) =>
        TimeSpan.FromMilliseconds(Math.Min(Math.Ceiling(timestamps * 1000d / _clock.TimestampFrequency),
            TimeSpan.MaxValue.TotalMilliseconds / 2));

    private sealed class Entry(int id, Action<int> handler)
    {
        public int Id => id;

        public Action<int> Handler => handler;

        public TimeSpan Interval { get; set; }

        public long Due { get; set; }

        /// <summary>Number of the arming: tells whether it was before or after some moment, and which place in the queue is the
        /// timer's.</summary>
        public long Order { get; set; }
    }
}
