using Net.Zlink.Flow;

namespace Net.Zlink.Buffers;

/// <summary>
/// Calls a pool's idle trim periodically without keeping the pool alive: a timer that finds its pool collected ends itself.
/// </summary>
internal sealed class IdleTrimTimer : IDisposable
{
    private readonly WeakReference<BufferPool> _pool;
    private readonly ITimer _timer;

    internal IdleTrimTimer(WeakReference<BufferPool> pool, TimeProvider time, TimeSpan period)
    {
        _pool = pool;

        // The timer must not carry the async-locals of whoever made the pool for as long as it runs.
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
            // Null only if the clock fired before its CreateTimer returned; the pool was alive then.
            _timer.Dispose();
        }
    }
}
