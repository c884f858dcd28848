using System.Runtime.CompilerServices;
using Net.Zlink.Engine;

namespace Net.Zlink.Sockets.Links;

/// <summary>
/// The fill of a lane and its limits: its own, the context's, and perhaps the socket's. A field of its lane, never copied, under the lane's
/// lock.
/// </summary>
internal struct LaneCapacity(QueueLimits limits, ByteBudget? budget, TotalByteLimit? total)
{
    private QueueCapacity _queueCapacity = new(limits, budget);
    private bool _isPaused;

    public long Messages { get; private set; }

    public long Bytes { get; private set; }

    /// <summary>The sender is paused. Consumers read this without the lane's lock, after a dequeue.</summary>
    public bool IsPaused
    {
        readonly get => Volatile.Read(in _isPaused);
        set => Volatile.Write(ref _isPaused, value);
    }

    /// <summary>A sender waits, so a consumer reports its last message at once.</summary>
    public readonly bool IsAwaited => IsPaused || total is { PausedReaders.Count: > 0 };

    /// <inheritdoc cref="ByteShare.SenderCanContinue"/>
    public readonly Action? SenderCanContinue { get => _queueCapacity.SenderCanContinue; set => _queueCapacity.SenderCanContinue = value; }

    /// <inheritdoc cref="QueueCapacity.CauseOf"/>
    public readonly FullCause FullCause => _queueCapacity.CauseOf(Messages, Bytes);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Add(long messages, long bytes)
    {
        Messages += messages;
        Bytes += bytes;
        total?.Add(bytes);
    }

    public void Remove(long messages, long bytes)
    {
        Messages -= messages;
        Bytes -= bytes;
        total?.Remove(bytes);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool PauseIfFull(IShareOwner lane)
    {
        if (_queueCapacity.TryReserve(Messages, Bytes, lane))
        {
            return false;
        }

        bool wasPaused = IsPaused;
        IsPaused = true;
        return wasPaused || Pause(lane);
    }

    public bool Resume()
    {
        bool resume = IsPaused && _queueCapacity.IsBelowLowMark(Messages, Bytes);
        IsPaused &= !resume;
        _queueCapacity.Shrink(Bytes);
        return resume || total is { CanResume: true };
    }

    public bool ResumeForAny(IShareOwner lane)
    {
        bool resume = IsPaused && _queueCapacity.CanReserve(Messages, Bytes, lane);
        IsPaused &= !resume;
        return resume;
    }

    /// <inheritdoc cref="ByteShare.MarkDetached"/>
    public readonly void MarkDetached() => _queueCapacity.MarkDetached(Bytes);

    public void Change(QueueLimits limits) => _queueCapacity.Change(limits);

    public void Clear()
    {
        Remove(Messages, Bytes);
        _queueCapacity.Shrink(0);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private bool Pause(IShareOwner lane)
    {
        if (FullCause == FullCause.Context)
        {
            // Far below the lane's own limits, a consumer reports its last message only if it sees the pause, and it dequeues without this
            // lock. After the barrier (some microseconds, for paused senders only) either it sees the pause, or its dequeues are seen here.
            Interlocked.MemoryBarrierProcessWide();
            IsPaused = !_queueCapacity.TryReserve(Messages, Bytes, lane);
        }

        return IsPaused;
    }
}
