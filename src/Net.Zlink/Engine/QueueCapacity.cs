using System.Runtime.CompilerServices;

namespace Net.Zlink.Engine;

/// <summary>How much one queue may hold: its own limits, within what its context has left.</summary>
/// <remarks>
/// A part of its queue, never to be copied, and under its lock. The queue is compared with limits that lie here, message for message as if there were no budget; only where these say that it is full is the
/// context asked for more. All else lies in the share, which a queue without a budget has not.
/// </remarks>
/// <param name="own">The queue's own limits.</param>
/// <param name="budget">The context's; null: none.</param>
internal struct QueueCapacity(QueueLimits own, ByteBudget? budget)
{
    private readonly ByteShare? _share = budget is null ? null : new ByteShare(budget, own);
    private QueueLimits _limits = budget is null ? own : ByteShare.LimitsOf(own, granted: 0);

    /// <inheritdoc cref="ByteShare.SenderCanContinue"/>
    public readonly Action? SenderCanContinue
    {
        get => _share?.SenderCanContinue;
        set => _share?.SenderCanContinue = value;
    }

    /// <summary>What a queue was full of that was refused something a moment ago, and may have emptied a little since.</summary>
    public readonly FullCause CauseOf(long messages, long bytes) =>
        _share is { IsShort: true } ? FullCause.Context
        : (_share?.OwnLimits ?? _limits).IsFullOfBytes(messages, bytes) ? FullCause.Bytes
        : FullCause.Messages;

    /// <summary>True if a queue that holds this much takes a further message, be it that it takes more of the budget for it. If not, and that is for its context's limit, it is told once others have made room (<see cref="IShareOwner"/>).</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool TryReserve(long messages, long bytes, IShareOwner owner) => !_limits.IsFull(messages, bytes) || TryGrow(messages, bytes, owner);

    /// <summary>As <see cref="TryReserve"/>, but takes nothing: for a queue whose sender has to be told, and may not want it any more.</summary>
    public readonly bool MayHaveCapacity(long messages, long bytes, IShareOwner owner)
    {
        if (!_limits.IsFull(messages, bytes))
        {
            return true;
        }

        if (_share is null || _share.OwnLimits.IsFull(messages, bytes))
        {
            return false;
        }

        bytes -= owner.BytesRemoved; // As for its next message: see TryGrow.
        return !_share.Limits.IsFull(messages, bytes) || _share.MayGrow(bytes, owner);
    }

    /// <inheritdoc cref="QueueLimits.IsBelowLowMark"/>
    public readonly bool IsBelowLowMark(long messages, long bytes) => (_share?.Limits ?? _limits).IsBelowLowMark(messages, bytes);

    /// <summary>The queue holds no more than this any more: the context gets back what is far more than it needs.</summary>
    public void Shrink(long bytes)
    {
        if (_share is not null)
        {
            _share.Shrink(bytes);
            _limits = _share.Limits;
        }
    }

    /// <inheritdoc cref="ByteShare.MarkDetached"/>
    public readonly void MarkDetached(long bytes) => _share?.MarkDetached(bytes);

    /// <summary>Changes the queue's own limits.</summary>
    public void Change(QueueLimits own)
    {
        _share?.OwnLimits = own;
        _limits = _share?.Limits ?? own;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private bool TryGrow(long messages, long bytes, IShareOwner owner)
    {
        if (_share is null)
        {
            return false;
        }

        if (_share.OwnLimits.IsFull(messages, bytes))
        {
            _share.IsShort = false;
            return false;
        }

        // A reader that keeps up must not be refused anything for what it has read; and not each of its messages may come by here, to look at what it writes for each.
        long gone = owner.BytesRemoved;
        bool isGiven = !_share.Limits.IsFull(messages, bytes - gone) || _share.TryGrow(bytes - gone, owner);
        _limits = _share.LimitsWith(gone);
        return isGiven;
    }
}
