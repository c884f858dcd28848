namespace Net.Zlink.Engine;

/// <summary>A queue that has a part of its context's <see cref="ByteBudget"/>.</summary>
internal interface IShareOwner
{
    /// <summary>How much of what is counted in the queue has left it already. Under the queue's lock, and only where it is at its context's limit.</summary>
    long BytesRemoved => 0;

    /// <summary>It had found too little left of the budget, and may find enough now. From the thread pool, outside of all locks.</summary>
    void OnBudgetAvailable();
}

/// <summary>What one queue has taken of its context's <see cref="ByteBudget"/>. Under the queue's lock, but for <see cref="NotifyCapacity"/>.</summary>
/// <remarks>One message is always let in, and so are some more of the first <see cref="FreeAllowance"/> bytes: whatever others hold, each peer gets on.</remarks>
/// <param name="budget">The context's.</param>
/// <param name="own">The queue's own limits.</param>
internal sealed class ByteShare(ByteBudget budget, QueueLimits own)
{
    /// <summary>What each queue may hold without taking any of the budget: as much as 200 messages of 64 bytes, so that a queue that is filled and emptied all the time seldom comes by here. The system's own buffers hold more for each connection.</summary>
    public const int FreeAllowance = 16 * 1024;

    // Taken first, and doubled from there, so that a queue that grows to its mark comes by a dozen times at most.
    private const int FirstStep = 64 * 1024;

    // Where so much is not left, or others wait, a queue takes what it needs, rounded up to this, and keeps no more.
    private const int MinStepBytes = 16 * 1024;

    // What a queue is beside its bytes, once its peer has gone: the lane, its lease, the peer's identity. 10,000 of them with a byte each took 24 MB.
    private const int DetachedCost = 2 * 1024;

    private IShareOwner? _holder;
    private LinkedListNode<ByteShare>? _queuePosition;
    private long _granted;
    private long _need;
    private bool _isWaiting;
    private bool _isDetached;

    /// <summary>The queue's own limits.</summary>
    public QueueLimits OwnLimits { get; set; } = own;

    /// <summary>The limits of the queue with what it has taken: never beyond its own.</summary>
    public QueueLimits Limits => LimitsOf(OwnLimits, _granted);

    /// <summary>The same for a queue in whose books so much counts that has left it.</summary>
    public QueueLimits LimitsWith(long gone) => LimitsOf(OwnLimits, _granted + gone);

    /// <summary>Tells the sender of room while the queue has no reader, which would tell it otherwise.</summary>
    public Action? SenderCanContinue { get; set; }

    /// <summary>When the queue was last refused something, it was because too little was left.</summary>
    public bool IsShort { get; set; }

    /// <summary>How much more it needs, while it stands in line. Any thread.</summary>
    public long Need => Volatile.Read(ref _need);

    /// <summary>Where it stands in the budget's line.</summary>
    public LinkedListNode<ByteShare> QueuePosition => _queuePosition ??= new LinkedListNode<ByteShare>(this);

    /// <summary>The limits of a queue that has taken so much: never beyond its own.</summary>
    public static QueueLimits LimitsOf(QueueLimits own, long granted) => own with { Bytes = own.Bytes > 0 ? Math.Min(own.Bytes, FreeAllowance + granted) : FreeAllowance + granted };

    /// <summary>Takes more of the budget. False if there is too little left; the queue is told when there is enough.</summary>
    /// <param name="bytes">What the queue holds: all that it may with what it has, but less than its own limit.</param>
    /// <param name="owner">The queue.</param>
    public bool TryGrow(long bytes, IShareOwner owner)
    {
        long needed = NeedOf(bytes);
        bool isGiven = (!budget.HasWaiters && TryReserve(Math.Min(MaxBytes, Math.Max(needed, Math.Max(FirstStep, 2 * _granted))))) || TryReserve(needed) || (TryWait(needed - _granted, owner) && TryReserve(needed));
        IsShort |= !isGiven;
        return isGiven;
    }

    /// <summary>Whether the queue could take more, for one whose sender has to be asked whether it still wants that: what nobody wants must not be taken from those who do. If not, it is told when it could.</summary>
    public bool MayGrow(long bytes, IShareOwner owner)
    {
        long need = NeedOf(bytes) - _granted;
        return need <= budget.Left || (TryWait(need, owner) && need <= budget.Left);
    }

    /// <summary>The queue holds no more than this any more: gives back what is far more than it needs, and all that it does not need where others wait.</summary>
    public void Shrink(long bytes)
    {
        // It needs nothing for its next message: nobody waits for that.
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

    /// <summary>The queue's peer has gone, and this is what it left: <see cref="FreeAllowance"/> is for those who are there. One that comes and goes would otherwise leave as much again each time, beyond all limits.</summary>
    public void MarkDetached(long bytes)
    {
        if (!_isDetached && bytes > 0)
        {
            _isDetached = true;
            budget.ReserveDetached(bytes + DetachedCost, bytes + DetachedCost - _granted);
            _granted = bytes + DetachedCost;
        }
    }

    /// <summary>There is what it needs. Without the queue's lock.</summary>
    public void NotifyCapacity()
    {
        Volatile.Write(ref _isWaiting, false);
        _holder!.OnBudgetAvailable();
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

    /// <summary>Enters the line. False if it stands there already, for no more than it needs now; otherwise something may have been given back since it was looked for.</summary>
    private bool TryWait(long need, IShareOwner owner)
    {
        if (Volatile.Read(ref _isWaiting) && _need <= need)
        {
            return false;
        }

        _holder = owner;
        Volatile.Write(ref _need, need);
        Volatile.Write(ref _isWaiting, true);
        budget.Wait(this);
        return true;
    }
}
