using System.Runtime.CompilerServices;

namespace Net.Zlink.Engine;

/// <summary>Under the queue's lock; never copy it.</summary>
internal struct QueueCapacity(QueueLimits ownLimits, ByteBudget? budget)
{
    private readonly ByteShare? _share = budget is null ? null : new ByteShare(budget, ownLimits);
    private QueueLimits _limits = budget is null ? ownLimits : ByteShare.LimitsOf(ownLimits, granted: 0);

    public readonly Action? SenderCanContinue
    {
        get => _share?.SenderCanContinue;
        set => _share?.SenderCanContinue = value;
    }

    public readonly FullCause CauseOf(long messages, long bytes) =>
        _share is { IsBudgetExhausted: true } ? FullCause.Context
        : (_share?.OwnLimits ?? _limits).IsFullOfBytes(messages, bytes) ? FullCause.Bytes
        : FullCause.Messages;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool TryReserve(long messages, long bytes, IShareOwner owner) =>
        !_limits.IsFull(messages, bytes) || TryGrow(messages, bytes, owner);

    public readonly bool CanReserve(long messages, long bytes, IShareOwner owner)
    {
        if (!_limits.IsFull(messages, bytes))
        {
            return true;
        }

        if (_share is null || _share.OwnLimits.IsFull(messages, bytes))
        {
            return false;
        }

        bytes -= owner.BytesRemoved;
        return !_share.Limits.IsFull(messages, bytes) || _share.MayGrow(bytes, owner);
    }

    public readonly bool IsBelowLowMark(long messages, long bytes) => (_share?.Limits ?? _limits).IsBelowLowMark(messages, bytes);

    public void Shrink(long bytes)
    {
        if (_share is not null)
        {
            _share.Shrink(bytes);
            _limits = _share.Limits;
        }
    }

    public readonly void MarkDetached(long bytes) => _share?.MarkDetached(bytes);

    public void Change(QueueLimits ownLimits)
    {
        _share?.OwnLimits = ownLimits;
        _limits = _share?.Limits ?? ownLimits;
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
            _share.IsBudgetExhausted = false;
            return false;
        }

        // A reader that keeps up must not be refused for messages that it has read, nor should each of its messages take this path.
        long gone = owner.BytesRemoved;
        bool isGiven = !_share.Limits.IsFull(messages, bytes - gone) || _share.TryGrow(bytes - gone, owner);
        _limits = _share.LimitsWith(gone);
        return isGiven;
    }
}
