namespace Net.Zlink.Services;

/// <summary>One timer for the earliest of many deadlines. As a rule requests have one timeout, so it is set once in that time and not for
/// each of them. Guarded by the lock of its owner.</summary>
internal sealed class DeadlineTimer : IDisposable
{
    // A timer's time is limited to 49 days: it may fire too early, never too late.
    private const double MaxDue = 86_400_000;

    private readonly TimeProvider _clock;
    private readonly ITimer _timer;
    private long _setFor = long.MaxValue;

    /// <param name="clock">The context's.</param>
    /// <param name="onDue">A deadline has come, by the timer's thread. Ends with <see cref="Set"/>.</param>
    public DeadlineTimer(TimeProvider clock, Action onDue)
    {
        _clock = clock;
        _timer = clock.CreateTimer(static state => ((Action)state!)(), onDue, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
    }

    /// <summary>There is one more deadline: a timestamp of the clock.</summary>
    public void Add(long deadline)
    {
        if (deadline < _setFor)
        {
            Set(deadline);
        }
    }

    /// <summary>This is the earliest deadline; <see cref="long.MaxValue"/>: there is none.</summary>
    public void Set(long deadline)
    {
        _setFor = deadline;
        double due = _clock.GetElapsedTime(_clock.GetTimestamp(), deadline).TotalMilliseconds;

        // Rounded up: timers cut fractions of a millisecond off, and would come too early.
        _timer.ChangeDue(deadline == long.MaxValue ? null : TimeSpan.FromMilliseconds(Math.Min(Math.Ceiling(due), MaxDue)));
    }

    public void Dispose() => _timer.Dispose();
}
