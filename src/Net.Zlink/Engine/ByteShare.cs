namespace Net.Zlink.Engine;

/// <summary>A queue that has a part of its context's <see cref="ByteBudget"/>.</summary>
internal interface IShareHolder
{
    /// <summary>It had found nothing left of the budget, and may find something now. From the thread pool, outside of all locks.</summary>
    void OnBudgetRoom();
}

/// <summary>What one queue has taken of its context's <see cref="ByteBudget"/>. Under the queue's lock, but for <see cref="TellRoom"/>.</summary>
/// <remarks>One message is always let in, and so are some more of the first <see cref="Free"/> bytes: whatever others hold, each peer gets on.</remarks>
internal sealed class ByteShare(ByteBudget budget)
{
    // What each queue may hold without taking any of the budget: as much as 200 messages of 64 bytes, so that a queue that is filled and emptied all the time seldom comes by here. The system's own buffers hold more for each connection.
    private const int Free = 16 * 1024;

    // Taken first, and doubled from there, so that a queue that grows to its mark comes by a dozen times at most.
    private const int FirstStep = 64 * 1024;

    // Where so much is not left, a queue takes what it needs, rounded up to this.
    private const int LeastStep = 16 * 1024;

    private IShareHolder? _holder;
    private LinkedListNode<ByteShare>? _place;
    private bool _isInLine;

    /// <summary>What it has taken.</summary>
    public long Granted { get; private set; }

    /// <summary>The queue was refused something the last time, because nothing was left.</summary>
    public bool IsShort { get; set; }

    /// <summary>Where it stands in the budget's line.</summary>
    public LinkedListNode<ByteShare> Place => _place ??= new LinkedListNode<ByteShare>(this);

    /// <summary>The limits of a queue that has taken so much: never beyond its own.</summary>
    public static QueueLimits LimitsOf(QueueLimits own, long granted) => own with { Bytes = own.Bytes > 0 ? Math.Min(own.Bytes, Free + granted) : Free + granted };

    /// <summary>Takes more of the budget. False if there is too little left, of which the queue is told when there is more.</summary>
    /// <param name="bytes">What the queue holds: all that it may with what it has, but less than its own limit.</param>
    /// <param name="own">The queue's own limits.</param>
    /// <param name="holder">The queue.</param>
    public bool TryGrow(long bytes, QueueLimits own, IShareHolder holder)
    {
        long needed = (bytes - Free + LeastStep) / LeastStep * LeastStep; // At least one byte more than there is.
        long most = own.Bytes > 0 ? own.Bytes - Free : long.MaxValue;
        bool isGiven = TryTake(Math.Max(needed, Math.Max(FirstStep, 2 * Granted)), most) || TryTake(needed, most) || (TryWait(holder) && TryTake(needed, most));
        IsShort = !isGiven;
        return isGiven;
    }

    /// <summary>The queue holds no more than this any more: gives back what is far more than it needs.</summary>
    public void Shrink(long bytes)
    {
        long needed = Math.Max(0, bytes - Free);
        if (needed <= Granted / 4)
        {
            long given = Granted - (2 * needed);
            Granted -= given;
            budget.GiveBack(given);
        }
    }

    /// <summary>The queue wants nothing any more.</summary>
    public void Leave()
    {
        if (Interlocked.Exchange(ref _isInLine, false))
        {
            budget.Leave(this);
        }
    }

    /// <summary>Others have given something back. Without the queue's lock.</summary>
    public void TellRoom()
    {
        Volatile.Write(ref _isInLine, false);
        _holder!.OnBudgetRoom();
    }

    private bool TryTake(long wanted, long most)
    {
        wanted = Math.Min(wanted, most);
        if (!budget.TryTake(wanted - Granted))
        {
            return false;
        }

        Granted = wanted;
        return true;
    }

    /// <summary>Enters the line. False if it stands there already; otherwise something may have been given back since it was looked for.</summary>
    private bool TryWait(IShareHolder holder)
    {
        if (Volatile.Read(ref _isInLine))
        {
            return false;
        }

        _holder = holder;
        Volatile.Write(ref _isInLine, true);
        budget.Wait(this);
        return true;
    }
}
