using System.Buffers;
using Net.Zlink.Buffers;

namespace Net.Zlink.Engine;

/// <summary>
/// One peer's outbound queue: encoded bytes, message boundaries, limits, and blocked sends. One thread at a time writes: the append that
/// finds no writer becomes the writer and schedules the connection once, so appends during a write form the next batch. The lock is held
/// for pointer work and copies below <see cref="OutboundChain.LargePayload"/>. While sending is paused (no connection, a handshake, a loss)
/// messages accumulate, and only control frames are written.
/// </summary>
internal sealed partial class OutboundQueue(BufferPool pool, QueueLimits limits, ByteBudget? budget = null) : IWaiterList, IShareOwner
{
    private ShortLock _gate;
    private WaiterList<SendWaiter> _waiters;
    private OutboundBacklog _backlog = new(pool);
    private QueueCapacity _capacity = new(limits, budget);
    private bool _hasWriter;
    private bool _closed;
    private bool _refused;

    public bool HasWriter => Volatile.Read(ref _hasWriter);

    public bool Conflates
    {
        get => _backlog.Conflates;
        init => _backlog.Conflates = value;
    }

    /// <summary>Called outside the lock, on any thread: a queue that refused a message has capacity again, or is closed.</summary>
    public Action? CapacityAvailable { get; init; }

    public OutboundCounts Counts
    {
        get
        {
            using (_gate.EnterScope())
            {
                return _backlog.Counts;
            }
        }
    }

    public long WrittenMessages => _backlog.Counts.WrittenMessages;

    public FullCause FullCause => _capacity.CauseOf(_backlog.Counts.QueuedMessages, _backlog.Counts.QueuedBytes);

    public SendStatus Status
    {
        get
        {
            using (_gate.EnterScope())
            {
                return Admit();
            }
        }
    }

    /// <summary>If accepted, the queue owns its donated memory; the rest is copied.</summary>
    public SendStatus TryAppend(in OutgoingMessage message, out bool schedule, bool force = false)
    {
        schedule = false;
        try
        {
            return message.IsLargeCopy ? TryAppendLarge(message, force, out schedule) : TryAppendSmall(message, force, out schedule);
        }
        catch (OutOfMemoryException)
        {
            return SendStatus.NoMemory;
        }
    }

    public SendStatus TryAppendShared(Slab encoded, int offset, int length, int messages, out bool schedule, bool force = false)
    {
        schedule = false;
        SendStatus status;
        OutboundSegment? obsolete = null;
        try
        {
            using (_gate.EnterScope())
            {
                status = !_closed && messages > 1 && !TryReserve(messages - 1, length) ? SendStatus.Full : Admit(force);
                if (status == SendStatus.Accepted)
                {
                    obsolete = _backlog.AddShared(encoded, offset, length, messages);
                    schedule = AcquireFlush();
                }
            }
        }
        catch (OutOfMemoryException)
        {
            return SendStatus.NoMemory;
        }

        OutboundSegment.ReleaseAll(obsolete, pool);
        return status;
    }

    public SendStatus AppendOrWait(in DeferredMessage message, SendWaiter waiter, out bool schedule)
    {
        SendStatus status = TryAppend(message.AsOutgoing(), out schedule);
        if (status != SendStatus.Full)
        {
            return status;
        }

        bool copied = false;
        try
        {
            using (_gate.EnterScope())
            {
                status = Admit();
                if (status == SendStatus.Accepted)
                {
                    copied = _backlog.Add(message.AsOutgoing(), out _);
                    schedule = AcquireFlush();
                }
                else if (status == SendStatus.Full)
                {
                    waiter.Deferred = message;
                    _waiters.Add(waiter);
                }
            }
        }
        catch (OutOfMemoryException)
        {
            return SendStatus.NoMemory;
        }

        DisposeIf(copied, message.Owner);
        return status;
    }

    public bool HasControl => _backlog.HasControl;

    /// <summary>Control frames precede all messages at the next frame boundary, and are not counted.</summary>
    public bool TryAppendControl(ReadOnlySpan<byte> frames)
    {
        using (_gate.EnterScope())
        {
            return _backlog.TryAddControl(frames);
        }
    }

    /// <summary>The shard does so around a handler, so that all replies are written together.</summary>
    public bool TryAcquireFlush()
    {
        using (_gate.EnterScope())
        {
            return AcquireFlush();
        }
    }

    public OutboundSegment? NextToWrite(bool several)
    {
        using (_gate.EnterScope())
        {
            return Next(several);
        }
    }

    public void PutBack(OutboundSegment segment)
    {
        using (_gate.EnterScope())
        {
            _backlog.PutBack(segment);
        }
    }

    public OutboundSegment? Written(OutboundSegment segment, bool several)
    {
        OutboundSegment? next;
        FreedCapacity freed;
        using (_gate.EnterScope())
        {
            next = _backlog.Written(segment);
            freed = Settle();
            next ??= Next(several);
        }

        // Outside the lock: donated memory's owner is application code.
        segment.Release(pool);
        Complete(freed);
        return next;
    }

    public void PauseSending()
    {
        using (_gate.EnterScope())
        {
            _backlog.IsSendPaused = true;
        }
    }

    public bool Release()
    {
        using (_gate.EnterScope())
        {
            _backlog.IsSendPaused = false;
            return _backlog.HasMessages && AcquireFlush();
        }
    }

    public void SetLimits(QueueLimits limits) => CheckCapacity(limits);

    public void OnBudgetAvailable() => CheckCapacity(changed: null);

    public void Close()
    {
        FreedCapacity refused;
        using (_gate.EnterScope())
        {
            _closed = true;
            refused = new FreedCapacity(_waiters.RemoveAll(), _refused);
            _refused = false;
        }

        Complete(refused, SendStatus.Closed);
    }

    public void Abandon()
    {
        Close();
        OutboundSegment? dropped;
        using (_gate.EnterScope())
        {
            dropped = _backlog.DropAll();
            _capacity.Shrink(0);
        }

        OutboundSegment.ReleaseAll(dropped, pool);
    }

    public void Detach()
    {
        OutboundSegment? dropped;
        FreedCapacity freed;
        using (_gate.EnterScope())
        {
            _backlog.IsSendPaused = true;
            _hasWriter = false;
            dropped = _backlog.Lose();
            freed = Settle();
        }

        OutboundSegment.ReleaseAll(dropped, pool);
        Complete(freed);
    }

    public void ReleaseInFlight(OutboundSegment? segment)
    {
        using (_gate.EnterScope())
        {
            _backlog.Forget(segment);
        }

        OutboundSegment.ReleaseAll(segment, pool);
    }

    public void DropQueued(bool onlyUpdates = false)
    {
        OutboundSegment? dropped;
        FreedCapacity freed;
        using (_gate.EnterScope())
        {
            dropped = onlyUpdates ? _backlog.DropSubscriptionUpdates() : _backlog.DropUnstarted();
            freed = Settle();
        }

        OutboundSegment.ReleaseAll(dropped, pool);
        Complete(freed);
    }

    public void Adopt(OutboundQueue other)
    {
        OutboundSegment? first;
        OutboundCounts given;
        using (other._gate.EnterScope())
        {
            first = other._backlog.GiveAll(out given);
            other._capacity.Shrink(0);
        }

        using (_gate.EnterScope())
        {
            _backlog.Adopt(first, given);
        }
    }

    public void AppendOwn(ReadOnlySpan<byte> header, ReadOnlySpan<byte> body, bool isUpdate, out bool schedule)
    {
        using (_gate.EnterScope())
        {
            schedule = false;
            if (!_closed)
            {
                _backlog.AddOwn(header, body, isUpdate);
                schedule = AcquireFlush();
            }
        }
    }

    public bool TryRemove(WaiterNode waiter)
    {
        using (_gate.EnterScope())
        {
            return _waiters.Remove(waiter);
        }
    }

    private SendStatus TryAppendSmall(in OutgoingMessage message, bool force, out bool schedule)
    {
        schedule = false;
        SendStatus status;
        OutboundSegment? obsolete = null;
        bool copied = false;
        using (_gate.EnterScope())
        {
            status = Admit(force);
            if (status == SendStatus.Accepted)
            {
                copied = _backlog.Add(message, out obsolete);
                schedule = AcquireFlush();
            }
        }

        OutboundSegment.ReleaseAll(obsolete, pool);
        DisposeIf(copied, message.Owner);
        return status;
    }

    private SendStatus TryAppendLarge(in OutgoingMessage message, bool force, out bool schedule)
    {
        schedule = false;

        // Copied outside the lock, so that others can append. Checked first: a full queue must not cost a copy.
        SendStatus status = force ? SendStatus.Accepted : Status;
        if (status != SendStatus.Accepted)
        {
            return status;
        }

        byte[] array = message.ToArray(pool, out int total);
        OutboundSegment? obsolete = null;
        using (_gate.EnterScope())
        {
            status = Admit(force);
            if (status == SendStatus.Accepted)
            {
                obsolete = _backlog.AddArray(array, total);
                schedule = AcquireFlush();
            }
        }

        if (status != SendStatus.Accepted)
        {
            pool.ReturnArray(array);
        }

        OutboundSegment.ReleaseAll(obsolete, pool);
        return status;
    }

    private static void DisposeIf(bool copied, IMemoryOwner<byte>? owner)
    {
        if (copied && owner is not null)
        {
            DeferredDisposal.Dispose(owner);
        }
    }

    private SendStatus Admit(bool force = false)
    {
        if (_closed)
        {
            return SendStatus.Closed;
        }

        if (Conflates || force)
        {
            return SendStatus.Accepted;
        }

        if (!_waiters.IsEmpty || !TryReserve())
        {
            _refused = true;
            return SendStatus.Full;
        }

        return SendStatus.Accepted;
    }

    private bool TryReserve(int moreMessages = 0, int moreBytes = 0) =>
        _capacity.TryReserve(_backlog.Counts.QueuedMessages + moreMessages, _backlog.Counts.QueuedBytes + moreBytes, this);

    private FreedCapacity Settle(bool orLess = false)
    {
        SendWaiter? admitted = AdmitWaiters();

        // Half empty, so that a sender does not stop with each message. With raised limits, any capacity.
        (long messages, long bytes) = (_backlog.Counts.QueuedMessages, _backlog.Counts.QueuedBytes);
        bool capacity = _refused && _waiters.IsEmpty
            && (orLess ? _capacity.CanReserve(messages, bytes, this) : _capacity.IsBelowLowMark(messages, bytes));
        _refused &= !capacity;
        _capacity.Shrink(bytes);
        return new FreedCapacity(admitted, capacity);
    }

    private bool AcquireFlush()
    {
        if (_hasWriter || _backlog.IsSendPaused)
        {
            return false;
        }

        _hasWriter = true;
        return true;
    }

    private OutboundSegment? Next(bool several)
    {
        OutboundSegment? segment = _backlog.Next(several);
        _hasWriter &= segment is not null;
        return segment;
    }

    private SendWaiter? AdmitWaiters()
    {
        SendWaiter? admitted = null;
        SendWaiter? tail = null;
        while (_waiters.First is { } waiter && !_closed && TryReserve())
        {
            _waiters.Remove(waiter);
            try
            {
                waiter.WasCopied = _backlog.Add(waiter.Deferred.AsOutgoing(), out _);
            }
            catch (Exception exception)
            {
                waiter.Failure = exception;
            }

            if (tail is null)
            {
                admitted = waiter;
            }
            else
            {
                tail.Next = waiter;
            }

            tail = waiter;
        }

        return admitted;
    }

    private void CheckCapacity(QueueLimits? changed)
    {
        FreedCapacity freed;
        using (_gate.EnterScope())
        {
            if (changed is { } limits)
            {
                _capacity.Change(limits);
            }

            freed = Settle(orLess: true);
        }

        Complete(freed);
    }

    private void Complete(FreedCapacity freed, SendStatus status = SendStatus.Accepted)
    {
        SendWaiter.CompleteAll(freed.Waiters, status);
        if (freed.Capacity)
        {
            CapacityAvailable?.Invoke();
        }
    }

    private readonly record struct FreedCapacity(SendWaiter? Waiters, bool Capacity);
}
