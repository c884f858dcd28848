using Microsoft.Extensions.Logging;
using Net.Zlink.Monitoring;

namespace Net.Zlink.Engine;

/// <summary>
/// The bytes that may wait in all queues of a context together. The thread pool notifies waiting queues, because the thread that returns
/// bytes holds its own queue's lock and may be a shard.
/// </summary>
internal sealed class ByteBudget : IThreadPoolWorkItem
{
    private const int MaxSharesPerCheck = 64;

    private const long NoWaiter = long.MaxValue;

    private readonly ILogger _logger;
    private readonly Lock _gate = new();
    private readonly LinkedList<ByteShare> _waiters = [];
    private readonly List<ByteShare> _notified = []; // Used by one check at a time.
    private long _used;
    private long _detachedBytes;
    private long _leastNeed = NoWaiter;
    private long _leastNeedSkipped;
    private bool _isNotifying;
    private bool _notifyAgain;

    private ByteBudget(long limit, ILogger logger) => (Limit, _logger) = (limit, logger);

    public long Limit { get; }

    public long Used => Volatile.Read(ref _used);

    public bool HasWaiters => Volatile.Read(ref _leastNeed) != NoWaiter;

    public int Waiting
    {
        get
        {
            lock (_gate)
            {
                return _waiters.Count;
            }
        }
    }

    public long Left => Limit - Used;

    public bool IsFullOfDetached => Volatile.Read(ref _detachedBytes) >= Limit;

    public static ByteBudget? Of(long limit, ILogger logger) => limit == 0 ? null : new ByteBudget(limit, logger);

    public bool TryReserve(long bytes)
    {
        long used = Used;
        while (bytes <= Limit - used)
        {
            long seen = Interlocked.CompareExchange(ref _used, used + bytes, used);
            if (seen == used)
            {
                return true;
            }

            used = seen;
        }

        return false;
    }

    public void GiveBack(long bytes)
    {
        long used = Interlocked.Add(ref _used, -bytes);

        // Its barrier pairs with the one in Wait: either this thread sees the new waiter, or the waiter finds these bytes.
        if (Limit - used >= Volatile.Read(ref _leastNeed))
        {
            BeginNotify();
        }
    }

    public void ReserveDetached(long bytes, long more)
    {
        Interlocked.Add(ref _detachedBytes, bytes);
        GiveBack(-more);
    }

    public void ReleaseDetached(long bytes)
    {
        Interlocked.Add(ref _detachedBytes, -bytes);
        GiveBack(bytes);
    }

    /// <summary>The caller then tries once more, for bytes returned since it last tried.</summary>
    public void Wait(ByteShare share)
    {
        lock (_gate)
        {
            if (share.QueuePosition.List is null)
            {
                _waiters.AddLast(share.QueuePosition);
            }

            _leastNeedSkipped = Math.Min(_leastNeedSkipped, share.Need);
            Volatile.Write(ref _leastNeed, Math.Min(_leastNeed, share.Need));
        }

        Interlocked.MemoryBarrier();
    }

    public void Leave(ByteShare share)
    {
        lock (_gate)
        {
            if (share.QueuePosition.List is not null)
            {
                _waiters.Remove(share.QueuePosition);
                if (_waiters.Count == 0 && !_isNotifying)
                {
                    Volatile.Write(ref _leastNeed, NoWaiter);
                }
            }
        }
    }

    void IThreadPoolWorkItem.Execute()
    {
        do
        {
            NotifyAll(BeginCheck());
        }
        while (!EndCheck());
    }

    private void BeginNotify()
    {
        lock (_gate)
        {
            _notifyAgain = true;
            if (_isNotifying)
            {
                return;
            }

            _isNotifying = true;
        }

        ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: false);
    }

    private int BeginCheck()
    {
        lock (_gate)
        {
            _notifyAgain = false;
            _leastNeedSkipped = NoWaiter;
            Volatile.Write(ref _leastNeed, 0);
            return _waiters.Count;
        }
    }

    private void NotifyAll(int waiting)
    {
        while (waiting > 0)
        {
            lock (_gate)
            {
                int last = Math.Max(waiting - MaxSharesPerCheck, 0);
                for (; waiting > last && _waiters.First is { } first; waiting--)
                {
                    CheckShare(first);
                }

                waiting = _waiters.Count == 0 ? 0 : last; // Some waiters may have left meanwhile.
            }

            _notified.ForEach(Notify);
            _notified.Clear();
        }
    }

    private void CheckShare(LinkedListNode<ByteShare> first)
    {
        _waiters.RemoveFirst();
        if (first.Value.Need <= Left)
        {
            _notified.Add(first.Value);
        }
        else
        {
            _leastNeedSkipped = Math.Min(_leastNeedSkipped, first.Value.Need);
            _waiters.AddLast(first);
        }
    }

    private void Notify(ByteShare share)
    {
        try
        {
            share.NotifyCapacity();
        }
        catch (Exception e)
        {
            Log.CapacityNotNotified(_logger, e); // One queue's fault must not reach the others or the process.
        }
    }

    private bool EndCheck()
    {
        lock (_gate)
        {
            Volatile.Write(ref _leastNeed, _waiters.Count == 0 ? NoWaiter : _leastNeedSkipped);
            _isNotifying = _notifyAgain && Left >= _leastNeed;
            return !_isNotifying;
        }
    }
}
