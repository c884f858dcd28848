using System.Runtime.CompilerServices;
using Net.Zlink.Engine;

namespace Net.Zlink.Sockets.Pipes;

/// <summary>How much lies in a lane, and how much may. A part of its lane, never to be copied, and under its lock.</summary>
internal struct LaneRoom(QueueLimits limits, ByteBudget? budget)
{
    private QueueRoom _room = new(limits, budget);
    private bool _isParked;

    public long Messages { get; private set; }

    public long Bytes { get; private set; }

    /// <summary>The sender was stopped, and is to be told of room. Consumers look at it without the lane's lock, behind what they have taken.</summary>
    public bool IsParked
    {
        readonly get => Volatile.Read(in _isParked);
        set => Volatile.Write(ref _isParked, value);
    }

    /// <inheritdoc cref="ByteShare.SenderMayGoOn"/>
    public readonly Action? SenderMayGoOn { get => _room.SenderMayGoOn; set => _room.SenderMayGoOn = value; }

    /// <inheritdoc cref="QueueRoom.CauseOf"/>
    public readonly FullCause FullCause => _room.CauseOf(Messages, Bytes);

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
    public bool ParkIfFull(IShareHolder lane)
    {
        if (_room.TryMakeRoom(Messages, Bytes, lane))
        {
            return false; // Nothing is written, since a sender comes by here for each message.
        }

        bool wasParked = IsParked;
        IsParked = true;
        return wasParked || Park(lane);
    }

    /// <summary>Something was taken out. True if a stopped sender has to be told: half of the limits is free.</summary>
    public bool Unpark()
    {
        bool resume = IsParked && _room.IsBelowLowMark(Messages, Bytes);
        IsParked &= !resume;
        _room.Shrink(Bytes);
        return resume;
    }

    /// <summary>Limits have changed. True if a stopped sender has any room now.</summary>
    public bool UnparkForAny(IShareHolder lane)
    {
        bool resume = IsParked && _room.MayHaveRoom(Messages, Bytes, lane);
        IsParked &= !resume;
        return resume;
    }

    /// <inheritdoc cref="ByteShare.BecomeRest"/>
    public readonly void BecomeRest() => _room.BecomeRest(Bytes);

    /// <summary>Changes the lane's own limits.</summary>
    public void Change(QueueLimits limits) => _room.Change(limits);

    /// <summary>Nothing is left in the lane, which is closed.</summary>
    public void Clear()
    {
        (Messages, Bytes) = (0, 0);
        _room.Shrink(0);
    }

    /// <summary>The sender is going to wait, and nobody knew yet. False if there is room after all.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    private bool Park(IShareHolder lane)
    {
        if (FullCause == FullCause.Context)
        {
            // Far below the lane's own limits the consumer reports its last message only if it sees that somebody waits, and takes it without this lock. Behind the barrier (some microseconds,
            // paid by those who wait) either it sees that, or what it has taken is seen here.
            Interlocked.MemoryBarrierProcessWide();
            IsParked = !_room.TryMakeRoom(Messages, Bytes, lane);
        }

        return IsParked;
    }
}
