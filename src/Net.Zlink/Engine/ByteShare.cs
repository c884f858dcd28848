namespace Net.Zlink.Engine;

internal interface IShareOwner
{
    /// <summary>Called under the queue's lock, only at the context's limit.</summary>
    long BytesRemoved => 0;

    /// <summary>Called on the thread pool, outside all locks.</summary>
    void OnBudgetAvailable();
}

/// <summary>
/// What one queue has reserved of its context's <see cref="ByteBudget"/>. Under the queue's lock, except <see cref="NotifyCapacity"/>. One
/// message is always accepted, and so are the first <see cref="FreeAllowance"/> bytes: each peer makes progress, whatever others hold.
/// </summary>
internal sealed class ByteShare(ByteBudget budget, QueueLimits ownLimits)
{
    /// <summary>
    /// What each queue may hold without the budget: 200 messages of 64 bytes, so that a queue that fills and empties seldom reserves.
    /// </summary>
    public const int FreeAllowance = 16 * 1024;

    // The first reservation, then doubled: a queue that grows to its limit reserves a dozen times at most.
    private const int FirstStep = 64 * 1024;

    private const int MinStepBytes = 16 * 1024;

    // A disconnected peer's queue besides its bytes: the lane, its lease, the identity. 10,000 of them with a byte each took 24 MB.
    private const int DetachedCost = 2 * 1024;

    private IShareOwner? _owner;
    private LinkedListNode<ByteShare>? _queuePosition;
    private long _granted;
    private long _need;
    private bool _isWaiting;
    private bool _isDetached;

    public QueueLimits OwnLimits { get; set; } = ownLimits;

    public QueueLimits Limits => LimitsOf(OwnLimits, _granted);

    public QueueLimits LimitsWith(long removed) => LimitsOf(OwnLimits, _granted + removed);

    public Action? SenderCanContinue { get; set; }

    public bool IsBudgetExhausted { get; set; }

    public long Need => Volatile.Read(ref _need);

    public LinkedListNode<ByteShare> QueuePosition => _queuePosition ??= new LinkedListNode<ByteShare>(this);

    public static QueueLimits LimitsOf(QueueLimits own, long granted)
    {
        long allowed = FreeAllowance + granted;
        return own with { Bytes = own.Bytes > 0 ? Math.Min(own.Bytes, allowed) : allowed };
    }

    /// <summary>False if too little is left: the queue is notified later.</summary>
    public bool TryGrow(long bytes, IShareOwner owner)
    {
        long needed = NeedOf(bytes);
        bool isGiven = (!budget.HasWaiters && TryReserve(Math.Min(MaxBytes, Math.Max(needed, Math.Max(FirstStep, 2 * _granted)))))
            || TryReserve(needed)
            || (TryWait(needed - _granted, owner) && TryReserve(needed));
        IsBudgetExhausted |= !isGiven;
        return isGiven;
    }

    /// <summary>Reserves nothing: a sender that no longer wants the bytes must not withhold them from others.</summary>
    public bool MayGrow(long bytes, IShareOwner owner)
    {
        long need = NeedOf(bytes) - _granted;
        return need <= budget.Left || (TryWait(need, owner) && need <= budget.Left);
    }

    public void Shrink(long bytes)
    {
        // Its next message needs nothing of the budget.
        if (Volatile.Read(ref _isWaiting) && bytes < FreeAllowance && Interlocked.Exchange(ref _isWaiting, false))
        {
            budget.Leave(this);
        }

        if (_granted == 0)
        {
            return;
        }

        if (_isDetached)
        {
            ShrinkDetached(bytes);
            return;
        }

        long needed = Math.Max(0, bytes - FreeAllowance);
        long kept = budget.HasWaiters ? RoundUp(needed) : needed <= _granted / 4 ? 2 * needed : _granted;
        long given = _granted - kept;
        if (given > 0)
        {
            _granted = kept;
            budget.GiveBack(given);
        }
    }

    /// <summary>
    /// Counts all bytes of a disconnected peer: without this it could leave another <see cref="FreeAllowance"/> each time it comes and
    /// goes.
    /// </summary>
    public void MarkDetached(long bytes)
    {
        if (!_isDetached && bytes > 0)
        {
            _isDetached = true;
            budget.ReserveDetached(bytes + DetachedCost, bytes + DetachedCost - _granted);
            _granted = bytes + DetachedCost;
        }
    }

    public void NotifyCapacity()
    {
        Volatile.Write(ref _isWaiting, false);
        _owner!.OnBudgetAvailable();
    }

    private void ShrinkDetached(long bytes)
    {
        long given = bytes == 0 ? _granted : _granted - bytes - DetachedCost;
        if (given > 0)
        {
            _granted -= given;
            budget.ReleaseDetached(given);
        }
    }

    private long MaxBytes => OwnLimits.Bytes > 0 ? OwnLimits.Bytes - FreeAllowance : long.MaxValue;

    private long NeedOf(long bytes) => Math.Min(RoundUp(bytes - FreeAllowance + 1), MaxBytes);

    private static long RoundUp(long bytes) => (bytes + MinStepBytes - 1) / MinStepBytes * MinStepBytes;

    private bool TryReserve(long wanted)
    {
        if (!budget.TryReserve(wanted - _granted))
        {
            return false;
        }

        _granted = wanted;
        return true;
    }

    private bool TryWait(long need, IShareOwner owner)
    {
        if (Volatile.Read(ref _isWaiting) && _need <= need)
        {
            return false;
        }

        _owner = owner;
        Volatile.Write(ref _need, need);
        Volatile.Write(ref _isWaiting, true);
        budget.Wait(this);
        return true;
    }
}
