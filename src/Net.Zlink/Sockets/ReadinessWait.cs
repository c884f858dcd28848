using Net.Zlink.Engine;
using Net.Zlink.Flow;

namespace Net.Zlink.Sockets;

/// <summary>Waits until some watched socket may be ready: for any number of waiting threads and tasks, all of which are woken.</summary>
/// <remarks>
/// Used as: begin to wait, look once more, then either leave or wait. What happens after the beginning is not missed. Nothing is allocated
/// in steady state, except one task where a thread of the thread pool blocks (<see cref="BlockingWait"/>).
/// </remarks>
internal sealed class ReadinessWait : IReadinessWatcher, IWaiterList
{
    private readonly Lock _gate = new();
    private WaiterList<Waiter<bool>> _waiting;
    private readonly WaiterPool<Waiter<bool>> _waiters = new();
    private readonly Action<Waiter<bool>> _recycle;
    private int _count;

    public ReadinessWait() => _recycle = _waiters.Return;

    /// <summary>From here on no news is missed. Ends with <see cref="Leave"/>, <see cref="Block"/> or <see cref="WaitAsync"/>.</summary>
    /// <param name="blocking">The calling thread is going to block.</param>
    public Waiter<bool> Begin(bool blocking)
    {
        Waiter<bool> waiter = _waiters.Rent();
        waiter.Prepare(this, _recycle, blocking);
        using (_gate.EnterUninterrupted())
        {
            _waiting.Add(waiter);
            Volatile.Write(ref _count, _count + 1);
        }

        // Before the look that follows: not all sockets are looked at under a lock (ReadinessWatchers.TellFenced).
        Interlocked.MemoryBarrier();
        return waiter;
    }

    /// <summary>Ends a wait that turned out not to be needed.</summary>
    public void Leave(Waiter<bool> waiter, bool blocking)
    {
        if (TryRemove(waiter))
        {
            _waiters.Return(waiter);
        }
        else if (blocking)
        {
            // It is being completed, and the completion sets this thread's signal: nothing else of this thread may wait before it has.
            BlockingWait.Until(waiter, this, Timeout.InfiniteTimeSpan);
            waiter.GetResult(waiter.Version);
        }

        // Else it is completed without anybody listening, and left to the collector.
    }

    /// <summary>Blocks until there is news.</summary>
    /// <returns>False if the time passed first.</returns>
    public bool Block(Waiter<bool> waiter, TimeSpan timeout)
    {
        if (!BlockingWait.Until(waiter, this, timeout))
        {
            _waiters.Return(waiter);
            return false;
        }

        return waiter.GetResult(waiter.Version);
    }

    /// <summary>Completes when there is news.</summary>
    public static ValueTask WaitAsync(Waiter<bool> waiter, CancellationToken cancellation)
    {
        short version = waiter.Version; // First: once it can be cancelled it can be over.
        waiter.CancelWith(cancellation);
        return new ValueTask(waiter, version);
    }

    /// <summary>Wakes all who wait.</summary>
    public void OnMayBeReady()
    {
        if (Volatile.Read(ref _count) == 0)
        {
            return;
        }

        Waiter<bool>? released = null;
        using (_gate.EnterUninterrupted())
        {
            while (_waiting.First is { } waiter)
            {
                Remove(waiter);
                waiter.Next = released;
                released = waiter;
            }
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
        using (_gate.EnterUninterrupted())
        {
            return Remove(waiter);
        }
    }

    private bool Remove(WaiterNode waiter)
    {
        if (!_waiting.Remove(waiter))
        {
            return false;
        }

        Volatile.Write(ref _count, _count - 1);
        return true;
    }
}
