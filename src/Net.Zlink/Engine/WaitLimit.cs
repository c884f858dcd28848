namespace Net.Zlink.Engine;

/// <summary>How long one kind of wait may take, again and again. Begin and End by one thread at a time; what it calls when a wait is too long runs on a thread of the clock's.</summary>
/// <param name="time">The clock.</param>
/// <param name="limit">How long; zero: as long as it takes.</param>
/// <param name="expired">Called when a wait is too long.</param>
internal sealed class WaitLimit(TimeProvider time, TimeSpan limit, Action expired) : IDisposable
{
    private ITimer? _timer;

    /// <summary>Waits are limited.</summary>
    public bool IsSet => limit > TimeSpan.Zero;

    public void Begin()
    {
        if (IsSet)
        {
            _timer ??= time.CreateTimer(static state => ((Action)state!)(), expired, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
            _timer.Change(limit, Timeout.InfiniteTimeSpan);
        }
    }

    public void End() => _timer?.Change(Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);

    public void Dispose() => _timer?.Dispose();
}
