using System.Runtime.CompilerServices;

namespace Net.Zlink.Engine;

internal interface IQuotaOwner
{
    /// <summary>Called under the queue's lock, only at the context's limit.</summary>
    long BytesRemoved => 0;

    /// <summary>Called on the thread pool, outside all locks: the context may have what was refused.</summary>
    void OnQuotaAvailable();
}

/// <summary>
/// What one queue holds, and whether it may hold more: by its own limits, by its socket's and by its context's. It also knows whether a
/// sender was refused and is to be notified of capacity. A field of its queue, never copied, under the queue's lock. One message is always
/// admitted, and so are the first <see cref="ContextShare.FreeAllowance"/> bytes: each peer makes progress, whatever others hold.
/// </summary>
internal struct Quota(QueueLimits own, ContextQuota? context, SocketQuota? total = null)
{
    private ContextShare? _share;
    private QueueLimits _own = own;
    private QueueLimits _limits = Within(own, context, granted: 0);
    private bool _isExhausted;
    private bool _isRefused;

    /// <summary>Last, because consumers of a lane read what is behind it: what is rarely written is the longer part.</summary>
    public QueueCounts Counts;

    /// <summary>A sender was refused and waits. Consumers read this without the lock, after a dequeue.</summary>
    public bool IsRefused
    {
        readonly get => Volatile.Read(in _isRefused);
        set => Volatile.Write(ref _isRefused, value);
    }

    /// <summary>A sender of this queue or of its socket waits, so a consumer reports its last message at once.</summary>
    public readonly bool IsAwaited => IsRefused || total is { PausedReaders.Count: > 0 };

    /// <summary>Which limit is reached.</summary>
    public readonly FullCause Cause => _isExhausted ? FullCause.Context
        : _own.IsFullOfBytes(Counts.QueuedMessages, Counts.QueuedBytes) ? FullCause.Bytes
        : FullCause.Messages;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Add(long messages, long bytes)
    {
        Counts.QueuedMessages += messages;
        Counts.QueuedBytes += bytes;
        total?.Add(bytes);
    }

    public void Take(long messages, long bytes)
    {
        Counts.TakenMessages += messages;
        Counts.TakenBytes += bytes;
        Add(-messages, -bytes);
    }

    public void Drop(long messages, long bytes)
    {
        Counts.Drop(messages, bytes);
        Add(-messages, -bytes);
    }

    /// <summary>The queue is empty, and admits nothing more.</summary>
    public void DropAll()
    {
        total?.Add(-Counts.QueuedBytes);
        Counts.DropQueued();
        Shrink();
    }

    /// <summary>One more? If not, the owner is notified of capacity later.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool TryAdmit(IQuotaOwner owner, int moreMessages = 0, long moreBytes = 0)
    {
        (long messages, long bytes) = (Counts.QueuedMessages + moreMessages, Counts.QueuedBytes + moreBytes);
        return !_limits.IsFull(messages, bytes) || TryGrow(messages, bytes, owner) || !Refuse(messages, bytes, owner);
    }

    /// <summary>
    /// True: the refused sender is notified. Half of the limits is free, so that a sender does not stop with each message.
    /// </summary>
    public bool TryResume() =>
        Resume(IsRefused && Within(_own, context, Granted).IsBelowLowMark(Counts.QueuedMessages, Counts.QueuedBytes));

    /// <summary>As <see cref="TryResume"/>, but any capacity will do: the limits were raised, or the context has some.</summary>
    public bool TryResumeForAny(IQuotaOwner owner) => Resume(IsRefused && CanAdmit(owner));

    public void Change(QueueLimits limits)
    {
        _own = limits;
        _limits = Within(limits, context, Granted);
    }

    /// <summary>Returns to the context what the queue no longer needs.</summary>
    public void Shrink()
    {
        if (_share is not null)
        {
            _share.Shrink(Counts.QueuedBytes);
            _limits = Within(_own, context, Granted);
        }
    }

    /// <inheritdoc cref="ContextShare.MarkDetached"/>
    public void MarkDetached()
    {
        if (context is not null && Counts.QueuedBytes > 0)
        {
            (_share ??= new ContextShare(context)).MarkDetached(Counts.QueuedBytes);
        }
    }

    private readonly long Granted => _share?.Granted ?? 0;

    private static QueueLimits Within(QueueLimits own, ContextQuota? context, long granted)
    {
        long allowed = ContextShare.FreeAllowance + granted;
        return context is null ? own : own with { Bytes = own.Bytes > 0 ? Math.Min(own.Bytes, allowed) : allowed };
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private bool TryGrow(long messages, long bytes, IQuotaOwner owner)
    {
        if (context is null || _own.IsFull(messages, bytes))
        {
            _isExhausted = false;
            return false;
        }

        // A reader that keeps up must not be refused for messages that it has read, nor should each of its messages take this path.
        long removed = owner.BytesRemoved;
        _share ??= new ContextShare(context);
        bool isGiven = !Within(_own, context, Granted).IsFull(messages, bytes - removed)
            || _share.TryGrow(bytes - removed, _own.Bytes, owner);
        _limits = Within(_own, context, Granted + removed);
        _isExhausted |= !isGiven;
        return isGiven;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private bool Refuse(long messages, long bytes, IQuotaOwner owner)
    {
        bool isNew = !IsRefused;
        IsRefused = true;
        if (isNew && _isExhausted)
        {
            // Far below its own limits, a consumer reports its last message only if it sees the refusal, and it dequeues without this lock.
            // After the barrier (some microseconds) either it sees the refusal, or its dequeues are seen here.
            Interlocked.MemoryBarrierProcessWide();
            IsRefused = !TryGrow(messages, bytes, owner);
        }

        return IsRefused;
    }

    private bool Resume(bool resumes)
    {
        IsRefused &= !resumes;
        Shrink();
        return resumes;
    }

    private readonly bool CanAdmit(IQuotaOwner owner)
    {
        (long messages, long bytes) = (Counts.QueuedMessages, Counts.QueuedBytes);
        if (!_limits.IsFull(messages, bytes))
        {
            return true;
        }

        if (_share is null || _own.IsFull(messages, bytes))
        {
            return false;
        }

        bytes -= owner.BytesRemoved;
        return !Within(_own, context, Granted).IsFull(messages, bytes) || _share.MayGrow(bytes, _own.Bytes, owner);
    }
}

/// <summary>
/// What became of the messages of a queue: accepted = taken + dropped + filtered + queued, in messages and bytes. A connection has written
/// what was taken of an outbound queue, and a consumer received what was taken of a lane. Bytes are encoded bytes. Nothing but
/// <see cref="QueuedMessages"/> and <see cref="QueuedBytes"/> is written for a new message; the others change for many at a time.
/// </summary>
internal struct QueueCounts
{
    public long QueuedMessages;
    public long QueuedBytes;
    public long TakenMessages;

    /// <summary>Those of filtered messages, too.</summary>
    public long TakenBytes;
    public long DroppedMessages;
    public long DroppedBytes;

    /// <summary>Refused by the receiver's subscriptions before they came into its lane.</summary>
    public long FilteredMessages;

    /// <summary>The peer ended the connection before it sent a frame, or sent an ERROR.</summary>
    public long UnconfirmedMessages;

    /// <summary>Dropped, but nobody misses them.</summary>
    public long ObsoleteMessages;
    public long ObsoleteBytes;
    public long QueuedUpdates;
    public long QueuedUpdateBytes;

    public readonly long AcceptedMessages => TakenMessages + DroppedMessages + FilteredMessages + QueuedMessages;

    public readonly long AcceptedBytes => TakenBytes + DroppedBytes + QueuedBytes;

    public readonly long MissedMessages => DroppedMessages - ObsoleteMessages;

    public readonly long MissedBytes => DroppedBytes - ObsoleteBytes;

    public void Drop(long messages, long bytes)
    {
        DroppedMessages += messages;
        DroppedBytes += bytes;
    }

    /// <summary>Nothing is queued any more: what was is dropped, and nobody misses the updates among it.</summary>
    public void DropQueued()
    {
        Excuse(QueuedUpdates, QueuedUpdateBytes);
        Drop(QueuedMessages, QueuedBytes);
        (QueuedMessages, QueuedBytes, QueuedUpdates, QueuedUpdateBytes) = (0, 0, 0, 0);
    }

    public void Excuse(long messages, long bytes)
    {
        ObsoleteMessages += messages;
        ObsoleteBytes += bytes;
    }

    public void AddUpdate(long messages, long bytes)
    {
        QueuedUpdates += messages;
        QueuedUpdateBytes += bytes;
    }

    public void Add(in QueueCounts other)
    {
        QueuedMessages += other.QueuedMessages;
        QueuedBytes += other.QueuedBytes;
        TakenMessages += other.TakenMessages;
        TakenBytes += other.TakenBytes;
        Drop(other.DroppedMessages, other.DroppedBytes);
        FilteredMessages += other.FilteredMessages;
        UnconfirmedMessages += other.UnconfirmedMessages;
        Excuse(other.ObsoleteMessages, other.ObsoleteBytes);
        AddUpdate(other.QueuedUpdates, other.QueuedUpdateBytes);
    }
}

/// <summary>The limits of one peer's queue; 0 means no limit.</summary>
internal readonly record struct QueueLimits(int Messages, long Bytes)
{
    public bool IsFull(long messages, long bytes) =>
        messages > 0 && ((Messages > 0 && messages >= Messages) || (Bytes > 0 && bytes >= Bytes));

    public bool IsFullOfBytes(long messages, long bytes) => Messages == 0 || (messages < Messages && Bytes > 0 && bytes >= Bytes);

    public bool IsBelowLowMark(long messages, long bytes) =>
        (Messages == 0 || messages <= (Messages + 1L) / 2) && (Bytes == 0 || bytes <= Bytes / 2);

    public bool IsHalf(long messages, long bytes) =>
        (Messages > 0 && messages >= (Messages + 1L) / 2) || (Bytes > 0 && bytes >= Bytes / 2);

    public QueueLimits And(QueueLimits other) => new(
        Messages == 0 || other.Messages == 0 ? 0 : (int)Math.Min(int.MaxValue, (long)Messages + other.Messages),
        Bytes == 0 || other.Bytes == 0 ? 0 : Bytes > long.MaxValue - other.Bytes ? long.MaxValue : Bytes + other.Bytes);
}

internal enum FullCause
{
    Messages,

    Bytes,

    Context,
}
