using System.Buffers;
using Net.Zlink.Buffers;

namespace Net.Zlink.Engine;

/// <summary>What waits to be written to one peer: encoded bytes, their message boundaries, the limits, and those who wait for room.</summary>
/// <remarks>
/// Any thread appends; the one that holds the <em>write turn</em> takes segments and writes them. The turn is taken by the append that finds nobody holding it (which then schedules the connection, once), so load turns into batching by itself: while a write is on its way, appends only accumulate. The lock is held for pointer work and for copying payloads below <see cref="OutboundChain.LargePayload"/>.
/// While the queue is <em>held</em> (no connection yet, a handshake, a loss) messages only accumulate and control frames alone are written.
/// </remarks>
/// <param name="pool">Where memory comes from.</param>
/// <param name="limits">How much may wait here.</param>
/// <param name="budget">How much may wait in the whole context; null: no limit.</param>
internal sealed class OutboundQueue(BufferPool pool, QueueLimits limits, ByteBudget? budget = null) : IWaiterList, IShareHolder
{
    private ShortLock _gate;
    private WaiterList<SendWaiter> _waiters;
    private OutboundBacklog _backlog = new(pool);
    private QueueRoom _room = new(limits, budget);
    private bool _hasWriter;
    private bool _closed;
    private bool _refused;

    /// <summary>The write turn is held: a flush is scheduled or on its way.</summary>
    public bool HasWriter => Volatile.Read(ref _hasWriter);

    /// <summary>Only the newest message is kept, and no limit applies.</summary>
    public bool Conflates
    {
        get => _backlog.Conflates;
        init => _backlog.Conflates = value;
    }

    /// <summary>Told, outside the lock and from any thread, that a queue which had refused a message has room again, or is closed.</summary>
    public Action? RoomAgain { get; init; }

    public OutboundCounts Counts
    {
        get
        {
            using (_gate.Hold())
            {
                return _backlog.Counts;
            }
        }
    }

    /// <summary>What was written so far. On the shard of its connection, where alone that changes.</summary>
    public long WrittenMessages => _backlog.Counts.WrittenMessages;

    /// <inheritdoc cref="QueueRoom.CauseOf"/>
    public FullCause FullCause => _room.CauseOf(_backlog.Counts.QueuedMessages, _backlog.Counts.QueuedBytes); // Without the lock: for people and counters.

    /// <summary>What a send would meet now.</summary>
    public SendStatus Status
    {
        get
        {
            using (_gate.Hold())
            {
                return Admit();
            }
        }
    }

    /// <summary>Appends one message; copies what is not handed over.</summary>
    /// <param name="message">The message. Of an accepted one the queue owns what was handed over with it.</param>
    /// <param name="schedule">True if the caller got the write turn and must schedule the flush.</param>
    /// <param name="force">Whatever the limits say.</param>
    public SendStatus TryAppend(in OutgoingMessage message, out bool schedule, bool force = false)
    {
        schedule = false;
        if (message.IsLargeCopy)
        {
            return TryAppendLarge(message, force, out schedule);
        }

        SendStatus status;
        OutboundSegment? obsolete = null;
        bool copied = false;
        using (_gate.Hold())
        {
            status = Admit(force);
            if (status == SendStatus.Accepted)
            {
                copied = _backlog.Add(message, out obsolete);
                schedule = TakeTurn();
            }
        }

        OutboundSegment.ReleaseAll(obsolete, pool);
        DisposeIf(copied, message.Owner);
        return status;
    }

    /// <summary>Appends whole messages that are encoded already and that others use too, all or none; takes a reference of its own if it accepts and does not copy.</summary>
    public SendStatus TryAppendShared(Slab encoded, int offset, int length, int messages, out bool schedule, bool force = false)
    {
        schedule = false;
        SendStatus status;
        OutboundSegment? obsolete = null;
        using (_gate.Hold())
        {
            status = !_closed && messages > 1 && !TryMakeRoom(messages - 1, length) ? SendStatus.Full : Admit(force);
            if (status == SendStatus.Accepted)
            {
                obsolete = _backlog.AddShared(encoded, offset, length, messages);
                schedule = TakeTurn();
            }
        }

        OutboundSegment.ReleaseAll(obsolete, pool);
        return status;
    }

    /// <summary>Appends, or puts the caller in the line of those who wait for room. What the message refers to must stay unchanged until the wait ends.</summary>
    /// <returns>Accepted, Closed, or Full: then <paramref name="waiter"/> stands in line.</returns>
    public SendStatus AppendOrWait(in HeldMessage message, SendWaiter waiter, out bool schedule)
    {
        SendStatus status = TryAppend(message.AsOutgoing(), out schedule);
        if (status != SendStatus.Full)
        {
            return status;
        }

        bool copied = false;
        using (_gate.Hold())
        {
            status = Admit();
            if (status == SendStatus.Accepted)
            {
                copied = _backlog.Add(message.AsOutgoing(), out _); // Nothing is obsolete: a queue that keeps the newest only is never full.
                schedule = TakeTurn();
            }
            else if (status == SendStatus.Full)
            {
                waiter.Held = message;
                _waiters.Add(waiter);
            }
        }

        DisposeIf(copied, message.Owner);
        return status;
    }

    /// <summary>Protocol frames wait. On the shard, where alone they come and go.</summary>
    public bool HasControl => _backlog.HasControl;

    /// <summary>Adds protocol frames, which go before all messages at the next frame boundary and stand in no count. On the shard, which then flushes.</summary>
    /// <returns>False if too much of this kind waits already: the peer asks and does not read.</returns>
    public bool TryAppendControl(ReadOnlySpan<byte> frames)
    {
        using (_gate.Hold())
        {
            return _backlog.TryAddControl(frames);
        }
    }

    /// <summary>Takes the write turn without appending: the shard does so around a handler, so that the handler's answers leave in one write.</summary>
    /// <returns>False if somebody holds it already.</returns>
    public bool TryTakeTurn()
    {
        using (_gate.Hold())
        {
            return TakeTurn();
        }
    }

    /// <summary>The next segment to write, or null: then the write turn is given back. Called only where the connection is flushed.</summary>
    /// <param name="several">Link those to it that may leave in the same write.</param>
    public OutboundSegment? NextToWrite(bool several)
    {
        using (_gate.Hold())
        {
            return Next(several);
        }
    }

    /// <summary>The write of a segment has to wait: those that are linked to it wait in the queue again.</summary>
    public void PutBack(OutboundSegment segment)
    {
        using (_gate.Hold())
        {
            _backlog.PutBack(segment);
        }
    }

    /// <summary>Accounts for a written segment, lets waiting sends in, and returns the one that is linked to it, or the next as <see cref="NextToWrite"/> does.</summary>
    /// <param name="segment">The first of those in flight.</param>
    /// <param name="several">As there.</param>
    public OutboundSegment? Written(OutboundSegment segment, bool several)
    {
        OutboundSegment? next;
        Freed freed;
        using (_gate.Hold())
        {
            next = _backlog.Written(segment);
            freed = Settle();
            next ??= Next(several);
        }

        // Outside the lock, like every release: the owner of donated memory is the application's code.
        segment.Release(pool);
        Complete(freed);
        return next;
    }

    /// <summary>Keeps messages back: only control frames are written from here on. Where there is no connection yet, or none any more.</summary>
    public void Hold()
    {
        using (_gate.Hold())
        {
            _backlog.IsHeld = true;
        }
    }

    /// <summary>Lets messages out. True if the caller got the write turn and must flush.</summary>
    public bool LetGo()
    {
        using (_gate.Hold())
        {
            _backlog.IsHeld = false;
            return _backlog.HasMessages && TakeTurn();
        }
    }

    /// <summary>Changes the limits; those who wait for room may find it.</summary>
    public void SetLimits(QueueLimits limits) => LookForRoom(limits);

    public void OnBudgetRoom() => LookForRoom(changed: null);

    /// <summary>Refuses further sends. What was accepted stays to be written.</summary>
    public void Close()
    {
        Freed refused;
        using (_gate.Hold())
        {
            _closed = true;
            refused = new Freed(_waiters.TakeAll(), _refused);
            _refused = false;
        }

        Complete(refused, SendStatus.Closed);
    }

    /// <summary>Refuses further sends and drops what was accepted but not written, counting it.</summary>
    public void Abandon()
    {
        Close();
        OutboundSegment? dropped;
        using (_gate.Hold())
        {
            dropped = _backlog.DropAll();
            _room.Shrink(0);
        }

        OutboundSegment.ReleaseAll(dropped, pool);
    }

    /// <summary>
    /// The connection is lost, the queue goes on: whole messages that were not handed over stay, in order; one that may have left in part is dropped and counted, and never finished elsewhere.
    /// </summary>
    public void Detach()
    {
        OutboundSegment? dropped;
        Freed freed;
        using (_gate.Hold())
        {
            _backlog.IsHeld = true;
            _hasWriter = false;
            dropped = _backlog.Lose();
            freed = Settle();
        }

        OutboundSegment.ReleaseAll(dropped, pool);
        Complete(freed);
    }

    /// <summary>Gives back the segment that was being written when the connection ended, and what is linked to it, once no operation uses it.</summary>
    public void ReleaseInFlight(OutboundSegment? segment)
    {
        using (_gate.Hold())
        {
            _backlog.Forget(segment);
        }

        OutboundSegment.ReleaseAll(segment, pool);
    }

    /// <summary>Takes out everything that waits and has not begun to leave, counting it as dropped; further sends are accepted, and those who wait for room find it.</summary>
    /// <param name="onlyNews">Of what is news all, and nothing else: there is no connection, and the next one is told all anew.</param>
    public void DropQueued(bool onlyNews = false)
    {
        OutboundSegment? dropped;
        Freed freed;
        using (_gate.Hold())
        {
            dropped = onlyNews ? _backlog.DropNews() : _backlog.DropUnstarted();
            freed = Settle();
        }

        OutboundSegment.ReleaseAll(dropped, pool);
        Complete(freed);
    }

    /// <summary>Takes over what waits for a peer that has no connection, in front of what is here: whole messages, accepted by this queue from here on. Calls nobody.</summary>
    public void TakeOver(OutboundQueue other)
    {
        OutboundSegment? first;
        OutboundCounts taken;
        using (other._gate.Hold())
        {
            first = other._backlog.GiveAll(out taken);
            other._room.Shrink(0);
        }

        using (_gate.Hold())
        {
            _backlog.TakeOver(first, taken);
        }
    }

    /// <summary>Appends one message, encoded, whatever the limits say: what a socket itself has to tell its peer.</summary>
    public void AppendOwn(ReadOnlySpan<byte> header, ReadOnlySpan<byte> body, bool isNews, out bool schedule)
    {
        using (_gate.Hold())
        {
            schedule = false;
            if (!_closed)
            {
                _backlog.AddOwn(header, body, isNews);
                schedule = TakeTurn();
            }
        }
    }

    public bool TryTakeOut(WaiterNode waiter)
    {
        using (_gate.Hold())
        {
            return _waiters.Remove(waiter);
        }
    }

    private SendStatus TryAppendLarge(in OutgoingMessage message, bool force, out bool schedule)
    {
        schedule = false;

        // Copied outside the lock: others go on appending meanwhile. Looked at first, so that a full queue costs no copy.
        SendStatus status = force ? SendStatus.Accepted : Status;
        if (status != SendStatus.Accepted)
        {
            return status;
        }

        byte[] array = message.ToArray(pool, out int total);
        OutboundSegment? obsolete = null;
        using (_gate.Hold())
        {
            status = Admit(force);
            if (status == SendStatus.Accepted)
            {
                obsolete = _backlog.AddArray(array, total);
                schedule = TakeTurn();
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
            HandedOver.Dispose(owner);
        }
    }

    /// <summary>Whether a message may enter now. Nobody overtakes those who already wait.</summary>
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

        if (!_waiters.IsEmpty || !TryMakeRoom())
        {
            _refused = true;
            return SendStatus.Full;
        }

        return SendStatus.Accepted;
    }

    /// <summary>Whether a further message is taken, or one behind so many more.</summary>
    private bool TryMakeRoom(int moreMessages = 0, int moreBytes = 0) =>
        _room.TryMakeRoom(_backlog.Counts.QueuedMessages + moreMessages, _backlog.Counts.QueuedBytes + moreBytes, this);

    /// <summary>Something has left, or the limits have changed: lets those in who wait.</summary>
    private Freed Settle(bool orLess = false)
    {
        SendWaiter? admitted = AdmitWaiters();

        // Half empty, so that a sender does not stop and go once per message; any room at all where the limits were raised.
        (long messages, long bytes) = (_backlog.Counts.QueuedMessages, _backlog.Counts.QueuedBytes);
        bool room = _refused && _waiters.IsEmpty && (orLess ? _room.MayHaveRoom(messages, bytes, this) : _room.IsBelowLowMark(messages, bytes));
        _refused &= !room;
        _room.Shrink(bytes);
        return new Freed(admitted, room);
    }

    private bool TakeTurn()
    {
        if (_hasWriter || _backlog.IsHeld)
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
        while (_waiters.First is { } waiter && !_closed && TryMakeRoom())
        {
            _waiters.Remove(waiter);
            try
            {
                waiter.WasCopied = _backlog.Add(waiter.Held.AsOutgoing(), out _); // As in AppendOrWait.
            }
            catch (Exception exception)
            {
                waiter.Failure = exception; // Its memory was disposed while it waited: that one send's fault, nobody else's.
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

    private void LookForRoom(QueueLimits? changed)
    {
        Freed freed;
        using (_gate.Hold())
        {
            if (changed is { } limits)
            {
                _room.Change(limits);
            }

            freed = Settle(orLess: true);
        }

        Complete(freed);
    }

    private void Complete(Freed freed, SendStatus status = SendStatus.Accepted)
    {
        SendWaiter.CompleteAll(freed.Waiters, status);
        if (freed.Room)
        {
            RoomAgain?.Invoke();
        }
    }

    /// <summary>Whom to tell, outside of the lock: those who do not wait any more, and whether one that was refused may come again.</summary>
    private readonly record struct Freed(SendWaiter? Waiters, bool Room);
}
