namespace Net.Zlink.Tests.Support;

/// <summary>
/// A clock that stands still until a test moves it. Thread-safe. <see cref="Advance"/> fires the timers that become due in the order of
/// their due times (equal ones in the order of their setting), each with the clock showing its due time, on the advancing thread and
/// outside any lock: when it returns, all of them have run.
/// </summary>
internal sealed class ManualTimeProvider : TimeProvider
{
    private readonly Lock _gate = new();
    private readonly List<ManualTimer> _armed = [];
    private readonly DateTimeOffset _start;
    private TimeSpan _elapsed;
    private long _settings;

    public ManualTimeProvider()
        : this(new DateTimeOffset(2026, 1, 1, 0, 0, 0, TimeSpan.Zero))
    {
    }

    public ManualTimeProvider(DateTimeOffset start) => _start = start;

    /// <summary>One tick of 100 ns, so that timestamps and time spans convert without rounding.</summary>
    public override long TimestampFrequency => TimeSpan.TicksPerSecond;

    public override TimeZoneInfo LocalTimeZone => TimeZoneInfo.Utc;

    /// <summary>How far the clock was moved.</summary>
    public TimeSpan Elapsed
    {
        get
        {
            lock (_gate)
            {
                return _elapsed;
            }
        }
    }

    /// <summary>
    /// How many timers are set to fire: lets a test see that something is scheduled, or that a disposed object left nothing behind.
    /// The one that looks after a context's shards, which ticks while one has work and is no sign of anything, is not among
    /// them.
    /// </summary>
    public int ArmedTimers
    {
        get
        {
            lock (_gate)
            {
                return _armed.Count(static timer => !timer.IsWatchdog);
            }
        }
    }

    /// <summary>When the next timer fires that is no watchdog's, as a time since the clock's start; null without one.</summary>
    public TimeSpan? NextDue
    {
        get
        {
            lock (_gate)
            {
                return _armed.Where(static timer => !timer.IsWatchdog).Min(static timer => (TimeSpan?)timer.Due);
            }
        }
    }

    /// <summary>Whether a context looks after its shards.</summary>
    public bool HasWatchdog
    {
        get
        {
            lock (_gate)
            {
                return _armed.Exists(static timer => timer.IsWatchdog);
            }
        }
    }

    public override DateTimeOffset GetUtcNow() => _start + Elapsed;

    public override long GetTimestamp() => Elapsed.Ticks;

    public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period)
    {
        ArgumentNullException.ThrowIfNull(callback);
        var timer = new ManualTimer(this, callback, state);
        timer.Change(dueTime, period);
        return timer;
    }

    /// <summary>
    /// Moves the clock forward and fires what becomes due, timers that the callbacks set included. Zero fires those that are due at once.
    /// A context's watchdog has one tick, however far the clock goes, and the last one: stopping the clock at each of its seconds would
    /// leave shards that are told of a timer on the way at work while the clock goes on.
    /// </summary>
    public void Advance(TimeSpan by)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(by, TimeSpan.Zero);
        TimeSpan target;
        lock (_gate)
        {
            target = _elapsed + by;
        }

        while (TakeDue(target, watchdogs: false) is { } due)
        {
            due.Fire();
        }

        lock (_gate)
        {
            // Two threads may advance at once: the clock never goes back.
            _elapsed = _elapsed > target ? _elapsed : target;
        }

        while (TakeDue(target, watchdogs: true) is { } due)
        {
            due.Fire();
        }
    }

    private ManualTimer? TakeDue(TimeSpan target, bool watchdogs)
    {
        lock (_gate)
        {
            ManualTimer? due = _armed.Where(timer => timer.Due <= target && timer.IsWatchdog == watchdogs)
                .MinBy(static timer => (timer.Due, timer.Setting));
            if (due is not null)
            {
                _elapsed = _elapsed > due.Due ? _elapsed : due.Due;
                Arm(due, due.Period, due.Period);
            }

            return due;
        }
    }

    // Under the gate. An infinite or zero period ends the timer after one shot, as in System.Threading.Timer.
    private void Arm(ManualTimer timer, TimeSpan dueTime, TimeSpan period)
    {
        _armed.Remove(timer);
        if (dueTime != Timeout.InfiniteTimeSpan)
        {
            timer.Due = _elapsed + dueTime;
            timer.Period = period == TimeSpan.Zero ? Timeout.InfiniteTimeSpan : period;
            timer.Setting = _settings++;
            _armed.Add(timer);
        }
    }

    private sealed class ManualTimer(ManualTimeProvider clock, TimerCallback callback, object? state) : ITimer
    {
        private bool _disposed;

        // By its name, since projects that do not see the library's inside compile this file as well.
        internal bool IsWatchdog => state?.GetType().Name is "ShardWatchdog";

        internal TimeSpan Due { get; set; }

        internal TimeSpan Period { get; set; } = Timeout.InfiniteTimeSpan;

        internal long Setting { get; set; }

        public bool Change(TimeSpan dueTime, TimeSpan period)
        {
            ThrowIfNoSpan(dueTime, nameof(dueTime));
            ThrowIfNoSpan(period, nameof(period));
            lock (clock._gate)
            {
                if (_disposed)
                {
                    return false;
                }

                clock.Arm(this, dueTime, period);
                return true;
            }
        }

        public void Dispose()
        {
            lock (clock._gate)
            {
                _disposed = true;
                clock._armed.Remove(this);
            }
        }

        public ValueTask DisposeAsync()
        {
            Dispose();
            return ValueTask.CompletedTask;
        }

        internal void Fire() => callback(state);

        private static void ThrowIfNoSpan(TimeSpan value, string name)
        {
            if (value != Timeout.InfiniteTimeSpan && value < TimeSpan.Zero)
            {
                throw new ArgumentOutOfRangeException(name, value, "Zero or more, or Timeout.InfiniteTimeSpan.");
            }
        }
    }
}
