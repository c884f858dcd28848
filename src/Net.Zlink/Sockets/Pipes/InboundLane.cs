using Net.Zlink.Buffers;
using Net.Zlink.Engine;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Sockets.Zmp;

namespace Net.Zlink.Sockets.Pipes;

/// <summary>One pipe's received messages on their way to the socket's consumers: bounded in messages and bytes, filled by one side, drained by the <see cref="ReceiveQueue"/>.</summary>
/// <remarks>Two locks meet here and are rarely wanted at once: the lane's own, held to add a batch or to take all that was added, and the receive queue's, whose holder reads what was taken without the lane's lock. So a consumer pays for the meeting once per batch, not once per message.</remarks>
/// <param name="limits">How much may wait here.</param>
/// <param name="budget">How much may wait in the whole context; null: no limit.</param>
internal sealed class InboundLane(QueueLimits limits, ByteBudget? budget = null) : IShareHolder
{
    private ShortLock _gate;
    private AddedLeases _added;
    private InboundLease? _unwanted;
    private bool _isInLine;
    private bool _isClosed;
    private bool _isFiltered;
    private bool _isInArrivalOrder;
    private LaneRoom _room = new(limits, budget);
    private LaneBooks _books;
    private CacheGap _gap;
    private TakenSide _taken = new() { Limits = TakenSide.ReportsOf(limits) };

    /// <summary>Where in a lane its parts lie: the last of the sender's fields, the gap, the consumers' fields.</summary>
    public static (int Books, int Gap, int Taken) Layout { get; } = LayoutOf(new InboundLane(default));

    /// <summary>The pipe whose socket reads it. Null while nobody has bound the inproc name that its sender connected to.</summary>
    public Pipe Pipe => _taken.Pipe!;

    /// <summary>Only the newest message is kept, and no limit applies.</summary>
    public bool Conflates { get; set; }

    /// <summary>What comes in is nobody's to receive yet: its connection has no place. On that connection's shard; whoever clears it announces what there is.</summary>
    public bool IsHeld { get; set; }

    /// <summary>Several connections are stopped on its account: that one may read does not mean that no other waits to be told of room.</summary>
    public bool IsShared { get; init; }

    /// <summary>The next lane whose sender has to be told of room, once the consumer has left its locks.</summary>
    public InboundLane? NextToResume
    {
        get => _taken.NextToResume;
        set => _taken.NextToResume = value;
    }

    /// <summary>Stands in such a list: whoever works it off clears this first, so no later room goes untold.</summary>
    public bool IsToBeResumed
    {
        get => Volatile.Read(ref _taken.IsToBeResumed);
        set => Volatile.Write(ref _taken.IsToBeResumed, value);
    }

    /// <summary>Messages that left the lane's own lock already are unread. Without any lock: true is what was so a moment ago, false says nothing.</summary>
    public bool HasTaken => Volatile.Read(ref _taken.Current) is not null;

    /// <summary>The lane's books.</summary>
    public LaneCounts Counts
    {
        get
        {
            using (_gate.Hold())
            {
                // What consumers took since the last report is theirs already; reports are made under this lock.
                (long messages, long bytes) = (Volatile.Read(ref _taken.UnreportedMessages), Volatile.Read(ref _taken.UnreportedBytes));
                return _books.At(_room.Messages - messages, _room.Bytes - bytes, messages, bytes) with { IsParked = _room.IsParked, FullCause = _room.FullCause };
            }
        }
    }

    /// <summary>What the next message will be taken from. The second is written under the lane's own lock, which is not worth taking for a hint.</summary>
    private InboundLease? NextLease => _taken.Current ?? Volatile.Read(ref _added.First);

    private SendStatus Admit(bool force) => _isClosed ? SendStatus.Closed
        : !force && !Conflates && _room.ParkIfFull(this) ? SendStatus.Full
        : SendStatus.Accepted;

    /// <summary>What a message counts against the byte limit: its payload, and the headers it came with.</summary>
    private static long ChargeOf(long payload, int parts) => payload + ((long)ZmpFrame.HeaderSize * parts);

    /// <summary>Gives the lane to the pipe that reads it.</summary>
    /// <returns>How many messages there are already: the caller announces them, outside of all locks.</returns>
    public int BelongTo(Pipe pipe)
    {
        using (_gate.Hold())
        {
            _taken.Pipe = pipe;
            _isFiltered = pipe.Socket.InboundRole == InboundRole.Filtered;
            _isInArrivalOrder = pipe.Socket.Receive.IsInArrivalOrder;
            return (int)_room.Messages;
        }
    }

    /// <summary>Adds a batch that was read from the wire, and says whether the connection should read on.</summary>
    public Delivery Publish(InboundLease lease)
    {
        Delivery delivery = TakeIn(lease, out int news);
        if (news > 0)
        {
            Pipe.Socket.Announce(this, news);
        }

        return delivery;
    }

    /// <summary>As <see cref="Publish"/>, but the caller announces what is new, outside of all locks.</summary>
    public Delivery TakeIn(InboundLease lease, out int news)
    {
        InboundLease? obsolete = null;
        bool park;
        using (_gate.Hold())
        {
            if (_isClosed)
            {
                _books.Drop(lease.Messages, ChargeOf(lease.Bytes, lease.Unread));
                news = 0;
                park = false;
            }
            else
            {
                obsolete = Conflates ? KeepNewest(lease) : null;
                _room.Add(lease.Messages, ChargeOf(lease.Bytes, lease.Unread));
                news = IsHeld || (_isInLine && !_isInArrivalOrder) ? 0 : lease.Messages;
                _added.Append(lease); // It may be none any more behind this.
                _isInLine = true;
                park = !Conflates && _room.ParkIfFull(this);
                lease = null!;
            }
        }

        lease?.ReleaseRest();
        InboundLease.ReleaseAll(obsolete);
        return park ? Delivery.Park : Delivery.Continue;
    }

    /// <summary>Whether a parked connection that was resumed may read now. If so it is not told of room, though it may have been going to be: it must read on.</summary>
    public bool MayRead()
    {
        using (_gate.Hold())
        {
            bool isFull = !_isClosed && !Conflates && _room.ParkIfFull(this);
            _room.IsParked &= isFull || IsShared;
            return !isFull;
        }
    }

    /// <summary>Adds one message of a sender in this process: copies what it does not hand over or share.</summary>
    /// <param name="message">The message.</param>
    /// <param name="slabs">Where memory comes from.</param>
    /// <param name="source">Who sends.</param>
    /// <param name="force">Whatever the limits say: what a socket itself has to tell its peer, or a message that found room before.</param>
    /// <param name="passedAt">Where the reader filters: see <see cref="InboundLease.PassedAt"/>.</param>
    public SendStatus Append(in OutgoingMessage message, Slab.SlabCache slabs, PeerIdentity source, bool force = false, int passedAt = 0)
    {
        // What is long is copied outside the lock; others go on meanwhile. Looked at first, so that a full lane costs no copy.
        if (message.IsLargeCopy && !force && Status is not SendStatus.Accepted and var refusal)
        {
            return refusal;
        }

        Slab? copy = message.IsLargeCopy ? slabs.Copy(message.Payload) : null;
        if (!message.IsSingle)
        {
            message.PutIntoArrays(slabs.Pool);
        }

        SendStatus status;
        InboundLease? obsolete = null;
        bool notify = false;
        bool copied = false;
        using (_gate.Hold())
        {
            status = Admit(force);
            if (status == SendStatus.Accepted)
            {
                obsolete = Conflates ? TakeObsolete() : null;
                copied = _added.Add(message, copy, slabs, source, passedAt, out int parts, out long bytes);
                _room.Add(1, ChargeOf(bytes, parts));
                copy = null;
                notify = (!_isInLine || _isInArrivalOrder) && _taken.Pipe is not null;
                _isInLine = true;
            }
        }

        copy?.Release();
        InboundLease.ReleaseAll(obsolete);
        if (copied && message.Owner is { } owner)
        {
            HandedOver.Dispose(owner);
        }

        if (notify)
        {
            Pipe.Socket.Announce(this, messages: 1);
        }

        return status;
    }

    /// <summary>Messages came that the application is not to have: they are in the books all the same.</summary>
    public void CountFiltered(int messages, long bytes)
    {
        using (_gate.Hold())
        {
            _books.Filter(messages, bytes);
        }
    }

    /// <summary>What one more message would meet now; if it is Full, the sender is told when there is room again.</summary>
    public SendStatus Status
    {
        get
        {
            using (_gate.Hold())
            {
                return Admit(force: false);
            }
        }
    }

    /// <summary>Changes the limits. True if a stopped sender has room now, be it less than half of them.</summary>
    public bool SetLimits(QueueLimits limits)
    {
        using (_gate.Hold())
        {
            _room.Change(limits);
            _taken.Limits = TakenSide.ReportsOf(limits);
            return _room.UnparkForAny(this);
        }
    }

    /// <summary>What consumers have taken and not reported. Without their lock: no less than was so a moment ago, as reports are made under the lane's own.</summary>
    public long BytesGone => Volatile.Read(ref _taken.UnreportedBytes);

    /// <inheritdoc cref="ByteShare.SenderMayGoOn"/>
    public Action? SenderMayGoOn { get => _room.SenderMayGoOn; set => _room.SenderMayGoOn = value; }

    public void OnBudgetRoom()
    {
        bool resume;
        Pipe? reader;
        using (_gate.Hold())
        {
            resume = _room.UnparkForAny(this);
            reader = _taken.Pipe;
        }

        if (resume)
        {
            (reader is null ? SenderMayGoOn : reader.OnRoomInLane)?.Invoke();
        }
    }

    /// <summary>The two sockets have met, before one of them has read, and the other than the one that made the lane conflates: only the newest of what is there stays.</summary>
    public void Conflate()
    {
        InboundLease? obsolete;
        HandedOver.Keep();
        using (_gate.Hold())
        {
            Conflates = true;
            if (_added.KeepNewest(out obsolete) is { } newest)
            {
                long kept = ChargeOf(newest.Bytes, newest.Unread);
                (long messages, long bytes) = (_room.Messages - 1, _room.Bytes - kept);
                _books.Drop(messages, bytes);
                _room.Remove(messages, bytes);
                _room.Unpark(); // Whoever has the two meet tells the sender.
            }
        }

        HandedOver.LetGo();
        InboundLease.ReleaseAll(obsolete);
    }

    /// <summary>Takes no more in; what is there stays readable.</summary>
    public void Close()
    {
        using (_gate.Hold())
        {
            _isClosed = true;
        }
    }

    /// <summary>Its peer has gone and comes back by another lane: what is unread is all that there will be.</summary>
    public void BecomeRest()
    {
        using (_gate.Hold())
        {
            _room.BecomeRest(); // With what is taken and not reported yet, which is the consumers' to settle: the next look at this lane gives that back.
        }
    }

    /// <summary>Fetches what the next message is in. This and the next two: hints, under the receive queue's lock, which keeps the lease from being reused.</summary>
    public void FetchLease()
    {
        CacheLines.Fetch(NextLease);
        CacheLines.Fetch(Pipe); // Its socket, and whether it is still there, are looked at too.
    }

    /// <summary>Fetches where in its lease the next message is noted.</summary>
    public void FetchSlot() => NextLease?.FetchSlot();

    /// <summary>Fetches the beginning of the next message.</summary>
    public void FetchPayload() => NextLease?.FetchPayload();

    /// <summary>Takes the next message. Under the receive queue's lock.</summary>
    /// <param name="lease">Where it is.</param>
    /// <param name="slot">Its first slot.</param>
    /// <param name="resume">The sender was stopped and has room again: tell it, outside of all locks.</param>
    /// <returns>False if there is none: the lane has left the line.</returns>
    public bool TryTake(out InboundLease lease, out int slot, ref bool resume)
    {
        InboundLease? current = _taken.Current;
        if (current is null)
        {
            current = Refill(ref resume);
            if (current is null)
            {
                (lease, slot) = (null!, 0);
                return false;
            }
        }

        slot = current.Cursor;
        lease = current;
        int parts = current.PartsOf(slot);
        _taken.UnreportedMessages++;
        _taken.UnreportedBytes += ChargeOf(current.BytesOf(slot), parts);

        // From here on a consumer may end these messages, and with the last of them the lease: nothing of it is read after the cursor moved to its end.
        int next = slot + parts;
        if (next == current.Count)
        {
            _taken.Current = current.Next;
        }

        current.Cursor = next;
        if (_taken.IsReportDue || (_taken.Current is null && (_isInArrivalOrder || _room.IsParked)))
        {
            // With the last of them too where nobody comes to look for more, since it is known how many there are; and where a sender was stopped though the lane's own limits are far off.
            resume |= Report();
        }

        return true;
    }

    /// <summary>Drops everything unread, counting it, and takes no more in. Under the receive queue's lock. Returns what the caller releases outside it.</summary>
    public (InboundLease? Taken, InboundLease? Added) Drop()
    {
        using (_gate.Hold())
        {
            _isClosed = true;
            SettleReport();
            _books.Drop(_room.Messages, _room.Bytes);
            (InboundLease? Taken, InboundLease? Added) all = (_taken.Current, _added.TakeAll());
            _taken.Current = null;
            _room.Clear();
            _isInLine = false;
            return all;
        }
    }

    /// <summary>Leaves the line if nothing is unread. Under the receive queue's lock.</summary>
    /// <param name="resume">As in <see cref="TryTake"/>.</param>
    public bool LeaveIfEmpty(ref bool resume)
    {
        if (_taken.Current is not null)
        {
            return false;
        }

        using (_gate.Hold())
        {
            if (_isFiltered)
            {
                resume |= Sift();
            }

            _isInLine = _added.First is not null;
            if (!_isInLine)
            {
                SettleReport();
                resume |= _room.Unpark();
            }

            return !_isInLine;
        }
    }

    /// <summary>The reader's filter was narrowed: what left the lane's lock already goes back to its front, and is looked at once more with the rest before the next is taken. Under the receive queue's lock.</summary>
    public void PutBack()
    {
        if (_taken.Current is { } current)
        {
            using (_gate.Hold())
            {
                _taken.Current = null;
                _added.PutBack(current);
            }
        }
    }

    /// <summary>What a narrowed filter has sorted out, to be released outside of all locks.</summary>
    public InboundLease? TakeUnwanted() => _isFiltered ? Interlocked.Exchange(ref _unwanted, null) : null;

    /// <summary>Nothing is unread. Under the receive queue's lock.</summary>
    public bool IsEmpty()
    {
        using (_gate.Hold())
        {
            return _taken.Current is null && _added.First is null;
        }
    }

    /// <summary>Takes out what no consumer has taken yet; it is counted as dropped.</summary>
    private InboundLease? TakeObsolete()
    {
        InboundLease? old = _added.TakeAll();
        for (InboundLease? lease = old; lease is not null; lease = lease.Next)
        {
            long bytes = ChargeOf(lease.Bytes, lease.Unread);
            _books.Drop(lease.Messages, bytes);
            _room.Remove(lease.Messages, bytes);
        }

        return old;
    }

    /// <summary>Makes room for a batch of which only the last message counts.</summary>
    private InboundLease? KeepNewest(InboundLease lease)
    {
        long bytes = ChargeOf(lease.Bytes, lease.Unread);
        int superseded = lease.KeepLast();
        _books.Drop(superseded, bytes - ChargeOf(lease.Bytes, lease.Unread));
        return TakeObsolete();
    }

    private static (int Books, int Gap, int Taken) LayoutOf(InboundLane lane) =>
        (CacheLines.OffsetOf(lane, ref lane._books), CacheLines.OffsetOf(lane, ref lane._gap), CacheLines.OffsetOf(lane, ref lane._taken));

    private bool Report()
    {
        using (_gate.Hold())
        {
            SettleReport();
            return _room.Unpark();
        }
    }

    private InboundLease? Refill(ref bool resume)
    {
        using (_gate.Hold())
        {
            SettleReport();
            resume |= _room.Unpark();
            if (_isFiltered)
            {
                resume |= Sift();
                _taken.Current = _added.TakePassed(Pipe.Socket.Narrowings);
            }
            else
            {
                _taken.Current = _added.TakeAll();
            }

            _isInLine = _taken.Current is not null;
            return _taken.Current;
        }
    }

    /// <summary>Takes out what comes first and passed the reader's filter before it was narrowed, as far as it lets it in no more. True if the sender is to be told of room; what was taken out is released then.</summary>
    private bool Sift()
    {
        var sifted = default(SiftedOut);
        _added.SiftFront(Pipe.Socket, Pipe.Socket.Narrowings, ref sifted);
        if (sifted.Messages == 0)
        {
            return false;
        }

        SettleReport();
        long bytes = ChargeOf(sifted.Bytes, sifted.Parts);
        _room.Remove(sifted.Messages, bytes);
        _books.Drop(sifted.Messages, bytes);
        _room.Unpark();
        sifted.Add(Interlocked.Exchange(ref _unwanted, null));
        Volatile.Write(ref _unwanted, sifted.Leases);
        return true;
    }

    private void SettleReport()
    {
        _room.Remove(_taken.UnreportedMessages, _taken.UnreportedBytes);
        _books.Deliver(_taken.UnreportedMessages, _taken.UnreportedBytes);
        (_taken.UnreportedMessages, _taken.UnreportedBytes) = (0, 0);
    }
}
