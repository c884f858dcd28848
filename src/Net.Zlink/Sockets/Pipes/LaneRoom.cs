using Net.Zlink.Engine;

namespace Net.Zlink.Sockets.Pipes;

/// <summary>How much lies in a lane, how much may, and whether its sender was stopped for that. A part of its lane, never to be copied, and under its lock.</summary>
internal struct LaneRoom(QueueLimits limits, ByteBudget? budget)
{
    private QueueRoom _room = new(limits, budget);

    public long Messages { get; private set; }

    public long Bytes { get; private set; }

    /// <summary>The sender was refused something, or its connection stopped: it has to be told of room.</summary>
    public bool IsParked { get; set; }

    /// <summary>Only the newest message is kept, and no limit applies.</summary>
    public bool Conflates { get; set; }

    /// <inheritdoc cref="QueueRoom.CauseOf"/>
    public readonly FullCause FullCause => _room.CauseOf(Messages, Bytes);

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

    /// <inheritdoc cref="QueueRoom.TryMakeRoom"/>
    public bool TryMakeRoom(IShareHolder lane) => Conflates || _room.TryMakeRoom(Messages, Bytes, lane);

    /// <summary>True if there is no room: then the sender is to be told once there is.</summary>
    public bool ParkIfFull(IShareHolder lane)
    {
        bool isFull = !TryMakeRoom(lane);
        IsParked |= isFull;
        return isFull;
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
        bool resume = IsParked && (Conflates || _room.MayHaveRoom(Messages, Bytes, lane));
        IsParked &= !resume;
        return resume;
    }

    /// <summary>Changes the lane's own limits.</summary>
    public void Change(QueueLimits limits) => _room.Change(limits);

    /// <summary>Nothing is left in the lane, which is closed.</summary>
    public void Clear()
    {
        (Messages, Bytes) = (0, 0);
        _room.Shrink(0);
    }
}
