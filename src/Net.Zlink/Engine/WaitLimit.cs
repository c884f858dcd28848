namespace Net.Zlink.Engine;

/// <summary>How long one kind of wait may take, again and again. Begin and End by one thread at a time; what it calls when a wait is too long runs on a thread of the clock's.</summary>
/// <param name="time">The clock.</param>
/// <param name="limit">How long; zero: as long as it takes.</param>
/// <param name="mayGoOn">Called when a wait is too long: what is waited for has happened, and its report is on its way, so it goes on for as long again; false: the wait is over.</param>
internal sealed class WaitLimit(TimeProvider time, TimeSpan limit, Func<bool> mayGoOn) : IDisposable
{
    private readonly Lock _gate = new();
    private ITimer? _timer;
    private bool _waits;

    /// <summary>Waits are limited.</summary>
    public bool IsSet => limit > TimeSpan.Zero;

    public void Begin()
    {
        if (IsSet)
        {
            _timer ??= time.CreateTimer(static state => ((WaitLimit)state!).OnTimer(), this, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
            Arm(waits: true);
        }
    }

    public void End()
    {
        if (IsSet)
        {
            Arm(waits: false);
        }
    }

    public void Dispose() => _timer?.Dispose();

    private void Arm(bool waits)
    {
        lock (_gate)
        {
            _waits = waits;
            _timer?.Change(waits ? limit : Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
        }
    }

    private void OnTimer()
    {
        if (Volatile.Read(ref _waits) && mayGoOn())
        {
            lock (_gate)
            {
                _timer?.Change(_waits ? limit : Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan); // It may have ended meanwhile.
            }
        }
    }
}
