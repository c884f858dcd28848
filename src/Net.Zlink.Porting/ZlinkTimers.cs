namespace Net.Zlink.Porting;

/// <summary>
/// Repeating timers for a program's own loop: poll with <see cref="TimeUntilNext"/> as the timeout, then call <see cref="Execute"/>.
/// </summary>
/// <remarks>
/// Thread-safe. Handlers run on the thread that calls Execute, outside of all locks, and may add, change and cancel timers. A handler's
/// exception leaves Execute; the remaining due timers run at the next call.
/// </remarks>
public sealed class ZlinkTimers
{
    private readonly TimeProvider _clock;
    private readonly Lock _gate = new();

    // By id, not by entry: an outdated element stays until its time and is skipped, and must not keep a cancelled timer's handler alive.
    private readonly PriorityQueue<int, (long Due, long Order)> _queue = new();
    private readonly Dictionary<int, Entry> _timers = [];
    private int _lastId;
    private long _order;

    /// <summary>Creates an empty set of timers with the system's clock.</summary>
    public ZlinkTimers()
        : this(TimeProvider.System)
    {
    }

    /// <summary>Creates an empty set of timers.</summary>
    /// <param name="clock">The clock.</param>
    /// <exception cref="ArgumentNullException"><paramref name="clock"/> is null.</exception>
    public ZlinkTimers(TimeProvider clock)
    {
        ArgumentNullException.ThrowIfNull(clock);
        _clock = clock;
    }

    /// <summary>The number of timers.</summary>
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

    /// <summary>The time until the next timer is due. Zero if one is due, null if there is none.</summary>
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

    /// <summary>Adds a timer that is due after one interval, and again one interval after each run.</summary>
    /// <param name="interval">The interval. Zero: due at every Execute.</param>
    /// <param name="handler">Called with the timer's id.</param>
    /// <returns>The timer's id: 1, 2, 3 and so on.</returns>
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

    /// <summary>Removes a timer. A running handler continues.</summary>
    /// <param name="id">Its id.</param>
    /// <returns>False if there is no such timer (native EINVAL).</returns>
    public bool Cancel(int id)
    {
        lock (_gate)
        {
            bool wasThere = _timers.Remove(id);
            LimitStale();
            return wasThere;
        }
    }

    /// <summary>Changes a timer's interval and restarts it: it is due after one interval.</summary>
    /// <param name="id">Its id.</param>
    /// <param name="interval">The interval. Zero: due at every Execute.</param>
    /// <returns>False if there is no such timer (native EINVAL).</returns>
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

    /// <summary>Restarts a timer: it is due after one interval.</summary>
    /// <param name="id">Its id.</param>
    /// <returns>False if there is no such timer (native EINVAL).</returns>
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

    /// <summary>Runs the handlers of all due timers once, earliest first.</summary>
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

    private Entry? Next()
    {
        while (_queue.TryPeek(out int id, out (long Due, long Order) armed))
        {
            if (_timers.TryGetValue(id, out Entry? entry) && entry.Order == armed.Order)
            {
                return entry;
            }

            _queue.Dequeue();
        }

        return null;
    }

    private void Arm(Entry entry)
    {
        // Divided, not multiplied: an interval of years with a clock of nanoseconds would overflow.
        double ticks = entry.Interval.TotalSeconds * _clock.TimestampFrequency;
        long now = _clock.GetTimestamp();

        // Added as integers: near 6e17, the ticks of a date, which some clocks start from, a double has steps of 128.
        entry.Due = ticks < long.MaxValue / 2d ? Math.Min(now, long.MaxValue / 2) + (long)ticks : long.MaxValue - 1;
        entry.Order = ++_order;
        _queue.Enqueue(entry.Id, (entry.Due, entry.Order));
        LimitStale();
    }

    /// <summary>Rebuilds the queue: that needs as many calls as there are timers, so it is rare.</summary>
    private void LimitStale()
    {
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

    /// <summary>Rounded up to a millisecond, so that a caller does not return too early again and again.</summary>
    private TimeSpan RoundedUp(long timestamps) =>
        TimeSpan.FromMilliseconds(Math.Min(Math.Ceiling(timestamps * 1000d / _clock.TimestampFrequency),
            TimeSpan.MaxValue.TotalMilliseconds / 2));

    private sealed class Entry(int id, Action<int> handler)
    {
        public int Id => id;

        public Action<int> Handler => handler;

        public TimeSpan Interval { get; set; }

        public long Due { get; set; }

        /// <summary>A number per scheduling: tells whether it was before a moment, and which element is current.</summary>
        public long Order { get; set; }
    }
}
