using System.Runtime.CompilerServices;
using Net.Zlink.Engine;

namespace Net.Zlink.Sockets.Links;

/// <summary>How much lies in a lane, and how much may. A part of its lane, never to be copied, and under its lock.</summary>
internal struct LaneCapacity(QueueLimits limits, ByteBudget? budget)
{
    private QueueCapacity _queueCapacity = new(limits, budget);
    private bool _isPaused;

    public long Messages { get; private set; }

    public long Bytes { get; private set; }

    /// <summary>The sender was stopped, and is to be told of room. Consumers look at it without the lane's lock, behind what they have
    /// taken.</summary>
    public bool IsPaused
    {
        readonly get => Volatile.Read(in _isPaused);
        set => Volatile.Write(ref _isPaused, value);
    }

    /// <inheritdoc cref="ByteShare.SenderCanContinue"/>
    public readonly Action? SenderCanContinue { get => _queueCapacity.SenderCanContinue; set => _queueCapacity.SenderCanContinue = value; }

    /// <inheritdoc cref="QueueCapacity.CauseOf"/>
    public readonly FullCause FullCause => _queueCapacity.CauseOf(Messages, Bytes);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Add(long messages, long bytes)
    {
        Messages += messages;
        Bytes += bytes;
    }

    public void Remove(long messages, long bytes)
    {
        Messages -= messages;
        Bytes -= bytes;
    }

    /// <summary>True if there is no room: then the sender is to be told once there is.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool PauseIfFull(IShareOwner lane)
    {
        if (_queueCapacity.TryReserve(Messages, Bytes, lane))
        {
            return false; // Nothing is written, since a sender comes by here for each message.
        }

        bool wasParked = IsPaused;
        IsPaused = true;
        return wasParked || Pause(lane);
    }

    /// <summary>Something was taken out. True if a stopped sender has to be told: half of the limits is free.</summary>
    public bool Resume()
    {
        bool resume = IsPaused && _queueCapacity.IsBelowLowMark(Messages, Bytes);
        IsPaused &= !resume;
        _queueCapacity.Shrink(Bytes);
        return resume;
    }

    /// <summary>Limits have changed. True if a stopped sender has any room now.</summary>
    public bool ResumeForAny(IShareOwner lane)
    {
        bool resume = IsPaused && _queueCapacity.MayHaveCapacity(Messages, Bytes, lane);
        IsPaused &= !resume;
        return resume;
    }

    /// <inheritdoc cref="ByteShare.MarkDetached"/>
    public readonly void MarkDetached() => _queueCapacity.MarkDetached(Bytes);

    /// <summary>Changes the lane's own limits.</summary>
    public void Change(QueueLimits limits) => _queueCapacity.Change(limits);

    /// <summary>Nothing is left in the lane, which is closed.</summary>
    public void Clear()
    {
        (Messages, Bytes) = (0, 0);
        _queueCapacity.Shrink(0);
    }

    /// <summary>The sender is going to wait, and nobody knew yet. False if there is room after all.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    private bool Pause(IShareOwner lane)
    {
        if (FullCause == FullCause.Context)
        {
            // Far below the lane's own limits the consumer reports its last message only if it sees that somebody waits, and takes it
            // without this lock. Behind the barrier (some microseconds, paid by those who wait) either it sees that, or what it has taken
            // is seen here.
            Interlocked.MemoryBarrierProcessWide();
            IsPaused = !_queueCapacity.TryReserve(Messages, Bytes, lane);
        }

        return IsPaused;
    }
}
