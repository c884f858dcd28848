namespace Net.Zlink.Transports;

internal sealed class Deadline : IDisposable
{
    private readonly CancellationTokenSource _limit;
    private readonly CancellationTokenSource _either;

    public Deadline(TimeSpan limit, TimeProvider time, CancellationToken cancellation)
    {
        _limit = new CancellationTokenSource(limit, time);
        _either = CancellationTokenSource.CreateLinkedTokenSource(cancellation, _limit.Token);
    }

    public CancellationToken Token => _either.Token;

    public bool IsOver => _limit.IsCancellationRequested;

    public void Dispose()
    {
        _either.Dispose();
        _limit.Dispose();
    }
}
