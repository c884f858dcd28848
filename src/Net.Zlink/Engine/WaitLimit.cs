namespace Net.Zlink.Engine;

/// <summary><paramref name="mayContinue"/> is called after the limit. True: the awaited event has happened, so wait on.</summary>
internal sealed class WaitLimit(TimeProvider time, TimeSpan limit, Func<bool> mayContinue) : IDisposable
{
    private readonly Lock _gate = new();
    private ITimer? _timer;
    private bool _waits;

    public bool IsSet => limit > TimeSpan.Zero;

    public void Begin()
    {
        if (IsSet)
        {
            _timer ??= time.CreateTimer(
                static state => ((WaitLimit)state!).OnTimer(), this, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
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
        if (Volatile.Read(ref _waits) && mayContinue())
        {
            lock (_gate)
            {
                // The wait may have ended meanwhile.
                _timer?.Change(_waits ? limit : Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
            }
        }
    }
}
