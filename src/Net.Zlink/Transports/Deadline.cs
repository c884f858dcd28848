namespace Net.Zlink.Transports;

/// <summary>The caller's token and a time limit in one.</summary>
internal sealed class Deadline : IDisposable
{
    private readonly CancellationTokenSource _limit;
    private readonly CancellationTokenSource _either;

    /// <summary>Starts the clock. <see cref="Timeout.InfiniteTimeSpan"/>: no limit.</summary>
    public Deadline(TimeSpan limit, TimeProvider time, CancellationToken cancellation)
    {
        _limit = new CancellationTokenSource(limit, time);
        _either = CancellationTokenSource.CreateLinkedTokenSource(cancellation, _limit.Token);
    }

    public CancellationToken Token => _either.Token;

    /// <summary>The time is up, whatever the caller's token says.</summary>
    public bool IsOver => _limit.IsCancellationRequested;

    public void Dispose()
    {
        _either.Dispose();
        _limit.Dispose();
    }
}
