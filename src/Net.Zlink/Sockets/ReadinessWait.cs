using Net.Zlink.Buffers;
using Net.Zlink.Engine;
using Net.Zlink.Flow;

namespace Net.Zlink.Sockets;

/// <summary>Use: begin, check once more, then leave or wait. What happens after the beginning is not missed.</summary>
internal sealed class ReadinessWait : IReadinessWatcher, IWaiterList
{
    private readonly Lock _gate = new();
    private WaiterList<Waiter<bool>> _waiting;
    private readonly ObjectCache<Waiter<bool>> _waiters = new(WaiterNode.MaxKept);
    private readonly Action<Waiter<bool>> _recycle;
    private int _count;

    public ReadinessWait() => _recycle = waiter => _waiters.Return(waiter);

    /// <summary>Ends with <see cref="Leave"/>, <see cref="Block"/> or <see cref="WaitAsync"/>.</summary>
    public Waiter<bool> Begin(bool blocking)
    {
        Waiter<bool> waiter = _waiters.Rent();
        waiter.Prepare(this, _recycle, blocking);
        lock (_gate)
        {
            _waiting.Add(waiter);
            Volatile.Write(ref _count, _count + 1);
        }

        // Before the check that follows: some sockets are checked without a lock (ReadinessWatchers.NotifyFenced).
        Interlocked.MemoryBarrier();
        return waiter;
    }

    public void Leave(Waiter<bool> waiter, bool blocking)
    {
        if (TryRemove(waiter))
        {
            _waiters.Return(waiter);
        }
        else if (blocking)
        {
            // Another thread completes the wait and sets this thread's signal: no other wait may start before.
            BlockingWait.Until(waiter, this, Timeout.InfiniteTimeSpan);
            waiter.GetResult(waiter.Version);
        }

        // Otherwise it completes without an observer and is collected.
    }

    public bool Block(Waiter<bool> waiter, TimeSpan timeout)
    {
        if (!BlockingWait.Until(waiter, this, timeout))
        {
            _waiters.Return(waiter);
            return false;
        }

        return waiter.GetResult(waiter.Version);
    }

    public static ValueTask WaitAsync(Waiter<bool> waiter, CancellationToken cancellation)
    {
        short version = waiter.Version;
        waiter.CancelWith(cancellation);
        return new ValueTask(waiter, version);
    }

    public void OnMayBeReady()
    {
        if (Volatile.Read(ref _count) == 0)
        {
            return;
        }

        Waiter<bool>? released;
        lock (_gate)
        {
            released = _waiting.RemoveAll();
            Volatile.Write(ref _count, 0);
        }

        while (released is not null)
        {
            var next = (Waiter<bool>?)released.Next;
            released.Next = null;
            released.Complete(result: true);
            released = next;
        }
    }

    public bool TryRemove(WaiterNode waiter)
    {
        lock (_gate)
        {
            bool isRemoved = _waiting.Remove(waiter);
            Volatile.Write(ref _count, _count - (isRemoved ? 1 : 0));
            return isRemoved;
        }
    }
}
