using Net.Zlink.Buffers;
using Net.Zlink.Engine;
using Net.Zlink.Flow;

namespace Net.Zlink.Sockets;

/// <summary>Use: begin, check, then wait. What happens after the beginning ends the wait at once.</summary>
internal sealed class ReadinessWait : IReadinessWatcher, IWaiterList
{
    private readonly Lock _gate = new();
    private WaiterList<Waiter<bool>> _waiting;
    private readonly ObjectCache<Waiter<bool>> _waiters = new(WaiterNode.MaxKept);
    private readonly Action<Waiter<bool>> _recycle;
    private bool _isWatched;
    private int _changes;

    public ReadinessWait() => _recycle = waiter => _waiters.Return(waiter);

    /// <summary>What <see cref="Block"/> or <see cref="WaitAsync"/> takes, if the check finds that a wait is needed.</summary>
    public int Begin()
    {
        int changes;
        lock (_gate)
        {
            changes = _changes;
            Volatile.Write(ref _isWatched, true);
        }

        // Before the check that follows: some sockets are checked without a lock (ReadinessWatchers.NotifyFenced).
        Interlocked.MemoryBarrier();
        return changes;
    }

    public void Block(int begun, TimeSpan timeout)
    {
        if (TryAdd(begun, blocking: true) is not { } waiter)
        {
            return;
        }

        if (BlockingWait.Until(waiter, this, timeout))
        {
            waiter.GetResult(waiter.Version);
        }
        else
        {
            _waiters.Return(waiter);
        }
    }

    public ValueTask WaitAsync(int begun, CancellationToken cancellation)
    {
        if (TryAdd(begun, blocking: false) is not { } waiter)
        {
            return ValueTask.CompletedTask;
        }

        short version = waiter.Version;
        waiter.CancelWith(cancellation);
        return new ValueTask(waiter, version);
    }

    public void OnMayBeReady()
    {
        if (!Volatile.Read(ref _isWatched))
        {
            return;
        }

        Waiter<bool>? released;
        lock (_gate)
        {
            _isWatched = false;
            _changes++;
            released = _waiting.RemoveAll();
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
            return _waiting.Remove(waiter);
        }
    }

    private Waiter<bool>? TryAdd(int begun, bool blocking)
    {
        Waiter<bool> waiter = _waiters.Rent();
        waiter.Prepare(this, _recycle, blocking);
        lock (_gate)
        {
            if (_changes == begun)
            {
                _waiting.Add(waiter);
                return waiter;
            }
        }

        _waiters.Return(waiter);
        return null;
    }
}
