using Net.Zlink.Engine;
using Net.Zlink.Flow;

namespace Net.Zlink.Sockets;

/// <summary>Waits until a watched socket may be ready. Any number of threads and tasks can wait; each is woken.</summary>
/// <remarks>
/// Use: begin, check once more, then leave or wait. What happens after the beginning is not missed. In steady state nothing is allocated,
/// except one task where a pool thread blocks (<see cref="BlockingWait"/>).
/// </remarks>
internal sealed class ReadinessWait : IReadinessWatcher, IWaiterList
{
    private readonly Lock _gate = new();
    private WaiterList<Waiter<bool>> _waiting;
    private readonly WaiterPool<Waiter<bool>> _waiters = new();
    private readonly Action<Waiter<bool>> _recycle;
    private int _count;

    public ReadinessWait() => _recycle = _waiters.Return;

    /// <summary>From here on no change is missed. Ends with <see cref="Leave"/>, <see cref="Block"/> or <see cref="WaitAsync"/>.</summary>
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
            // It is being completed, and that sets this thread's signal. This thread must not start another wait before.
            BlockingWait.Until(waiter, this, Timeout.InfiniteTimeSpan);
            waiter.GetResult(waiter.Version);
        }

        // Otherwise it completes without an observer and is collected.
    }

    /// <summary>Blocks until there is a change.</summary>
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

    public static ValueTask WaitAsync(Waiter<bool> waiter, CancellationToken cancellation)
    {
        short version = waiter.Version; // Read first: a wait that can be cancelled can be over.
        waiter.CancelWith(cancellation);
        return new ValueTask(waiter, version);
    }

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
