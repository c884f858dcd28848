using Microsoft.Extensions.Logging;
using Net.Zlink.Monitoring;

namespace Net.Zlink.Engine;

/// <summary>
/// The bytes that may wait in all queues of a context together. The thread pool notifies waiting queues, because the thread that returns
/// bytes holds its own queue's lock and may be a shard.
/// </summary>
internal sealed class ContextQuota : IThreadPoolWorkItem
{
    private const long NoWaiter = long.MaxValue;

    private readonly ILogger _logger;
    private readonly Lock _gate = new();
    private readonly LinkedList<ContextShare> _waiters = [];
    private readonly List<ContextShare> _notified = []; // Used by one thread at a time.
    private long _used;
    private long _detachedBytes;
    private long _leastNeed = NoWaiter;
    private bool _isNotifying;

    private ContextQuota(long limit, ILogger logger) => (Limit, _logger) = (limit, logger);

    public long Limit { get; }

    public long Used => Volatile.Read(ref _used);

    /// <summary>Some wait, or were notified and have not taken yet what they need: nobody takes more than that.</summary>
    public bool HasWaiters => Volatile.Read(ref _isNotifying) || Volatile.Read(ref _leastNeed) != NoWaiter;

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

    public static ContextQuota? Of(long limit, ILogger logger) => limit == 0 ? null : new ContextQuota(limit, logger);

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
    public void Wait(ContextShare share)
    {
        lock (_gate)
        {
            if (share.QueuePosition.List is null)
            {
                _waiters.AddLast(share.QueuePosition);
            }

            Volatile.Write(ref _leastNeed, Math.Min(_leastNeed, share.Need));
        }

        Interlocked.MemoryBarrier();
    }

    public void Leave(ContextShare share)
    {
        lock (_gate)
        {
            if (share.QueuePosition.List is not null)
            {
                _waiters.Remove(share.QueuePosition);
                if (_waiters.Count == 0)
                {
                    Volatile.Write(ref _leastNeed, NoWaiter);
                }
            }
        }
    }

    void IThreadPoolWorkItem.Execute()
    {
        while (TryTakeServable())
        {
            _notified.ForEach(Notify);
        }
    }

    private void BeginNotify()
    {
        lock (_gate)
        {
            if (_isNotifying)
            {
                return;
            }

            _isNotifying = true;
        }

        ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: false);
    }

    /// <summary>Those that need no more than is left. False: there are none, and the next bytes that come back begin anew.</summary>
    private bool TryTakeServable()
    {
        lock (_gate)
        {
            _notified.Clear();
            long leastNeed = NoWaiter;
            for (LinkedListNode<ContextShare>? next = _waiters.First; next is { Value: var share } node;)
            {
                next = node.Next;
                if (share.Need <= Left)
                {
                    _waiters.Remove(node);
                    _notified.Add(share);
                }
                else
                {
                    leastNeed = Math.Min(leastNeed, share.Need);
                }
            }

            Volatile.Write(ref _leastNeed, leastNeed);
            return _isNotifying = _notified.Count > 0;
        }
    }

    private void Notify(ContextShare share)
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
}

/// <summary>
/// What one queue has reserved of its context's quota, made when it first needs some. Under the queue's lock, except
/// <see cref="NotifyCapacity"/>.
/// </summary>
internal sealed class ContextShare(ContextQuota context)
{
    /// <summary>
    /// What each queue may hold without the context: 200 messages of 64 bytes, so that a queue that fills and empties seldom reserves.
    /// </summary>
    public const int FreeAllowance = 16 * 1024;

    // The first reservation, then doubled: a queue that grows to its limit reserves a dozen times at most.
    private const int FirstStep = 64 * 1024;

    private const int MinStepBytes = 16 * 1024;

    // A disconnected peer's queue besides its bytes: the lane, its lease, the identity. 10,000 of them with a byte each took 24 MB.
    private const int DetachedCost = 2 * 1024;

    private IQuotaOwner? _owner;
    private LinkedListNode<ContextShare>? _queuePosition;
    private long _need;
    private bool _isWaiting;
    private bool _isDetached;

    public long Granted { get; private set; }

    public long Need => Volatile.Read(ref _need);

    public LinkedListNode<ContextShare> QueuePosition => _queuePosition ??= new LinkedListNode<ContextShare>(this);

    /// <summary>
    /// False if too little is left: the queue is notified later. <paramref name="ownLimit"/>: of the queue; 0: it has none.
    /// </summary>
    public bool TryGrow(long bytes, long ownLimit, IQuotaOwner owner)
    {
        long needed = NeedOf(bytes, ownLimit);
        long much = Math.Min(MaxBytes(ownLimit), Math.Max(needed, Math.Max(FirstStep, 2 * Granted)));
        return (!context.HasWaiters && TryReserve(much))
            || TryReserve(needed)
            || (TryWait(needed - Granted, owner) && TryReserve(needed));
    }

    /// <summary>Reserves nothing: a sender that no longer wants the bytes must not withhold them from others.</summary>
    public bool MayGrow(long bytes, long ownLimit, IQuotaOwner owner)
    {
        long need = NeedOf(bytes, ownLimit) - Granted;
        return need <= context.Left || (TryWait(need, owner) && need <= context.Left);
    }

    public void Shrink(long bytes)
    {
        // Its next message needs nothing of the context.
        if (Volatile.Read(ref _isWaiting) && bytes < FreeAllowance && Interlocked.Exchange(ref _isWaiting, false))
        {
            context.Leave(this);
        }

        if (Granted == 0)
        {
            return;
        }

        if (_isDetached)
        {
            ShrinkDetached(bytes);
            return;
        }

        long needed = Math.Max(0, bytes - FreeAllowance);
        long kept = context.HasWaiters ? RoundUp(needed) : needed <= Granted / 4 ? 2 * needed : Granted;
        long given = Granted - kept;
        if (given > 0)
        {
            Granted = kept;
            context.GiveBack(given);
        }
    }

    /// <summary>
    /// Counts all bytes of a disconnected peer: without this it could leave another <see cref="FreeAllowance"/> each time it comes and
    /// goes.
    /// </summary>
    public void MarkDetached(long bytes)
    {
        if (!_isDetached)
        {
            _isDetached = true;
            context.ReserveDetached(bytes + DetachedCost, bytes + DetachedCost - Granted);
            Granted = bytes + DetachedCost;
        }
    }

    public void NotifyCapacity()
    {
        Volatile.Write(ref _isWaiting, false);
        _owner!.OnQuotaAvailable();
    }

    private static long MaxBytes(long ownLimit) => ownLimit > 0 ? ownLimit - FreeAllowance : long.MaxValue;

    private static long NeedOf(long bytes, long ownLimit) => Math.Min(RoundUp(bytes - FreeAllowance + 1), MaxBytes(ownLimit));

    private static long RoundUp(long bytes) => (bytes + MinStepBytes - 1) / MinStepBytes * MinStepBytes;

    private void ShrinkDetached(long bytes)
    {
        long given = bytes == 0 ? Granted : Granted - bytes - DetachedCost;
        if (given > 0)
        {
            Granted -= given;
            context.ReleaseDetached(given);
        }
    }

    private bool TryReserve(long wanted)
    {
        bool isGiven = context.TryReserve(wanted - Granted);
        Granted = isGiven ? wanted : Granted;
        return isGiven;
    }

    private bool TryWait(long need, IQuotaOwner owner)
    {
        if (Volatile.Read(ref _isWaiting) && _need <= need)
        {
            return false;
        }

        _owner = owner;
        Volatile.Write(ref _need, need);
        Volatile.Write(ref _isWaiting, true);
        context.Wait(this);
        return true;
    }
}
