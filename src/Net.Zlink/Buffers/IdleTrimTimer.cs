using Net.Zlink.Flow;

namespace Net.Zlink.Buffers;

/// <summary>Runs a pool's idle trim periodically without keeping the pool alive; stops when the pool was collected.</summary>
internal sealed class IdleTrimTimer : IDisposable
{
    private readonly WeakReference<BufferPool> _pool;
    private readonly ITimer _timer;

    internal IdleTrimTimer(WeakReference<BufferPool> pool, TimeProvider time, TimeSpan period)
    {
        _pool = pool;

        // The timer must not keep the AsyncLocals of the pool's creator.
        _timer = DefaultContext.Run(() => time.CreateTimer(static state => ((IdleTrimTimer)state!).Tick(), this, period, period));
    }

    public void Dispose() => _timer.Dispose();

    private void Tick()
    {
        if (_pool.TryGetTarget(out BufferPool? pool))
        {
            pool.TrimIdle();
        }
        else
        {
            _timer.Dispose();
        }
    }
}
