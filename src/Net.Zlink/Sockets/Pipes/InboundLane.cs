using Net.Zlink.Buffers;
using Net.Zlink.Engine;
using Net.Zlink.Protocol.Zmp;

namespace Net.Zlink.Sockets.Pipes;

/// <summary>One pipe's received messages on their way to the socket's consumers: bounded in messages and bytes, filled by one side, drained by the <see cref="ReceiveQueue"/>.</summary>
/// <remarks>
/// Two locks meet here and are rarely wanted at once: the lane's own, held to add a batch or to take all that was added, and the receive queue's, whose holder reads what was taken without the lane's lock.
/// So a consumer pays for the meeting once per batch, not once per message.
/// </remarks>
internal sealed class InboundLane(QueueLimits limits)
{
    // An open lease starts with room for some dozens of short messages and grows fourfold up to a read's size, so a quiet pipe holds little.
    private const int SmallestOpenSlab = 4 * 1024;
    private const int LargestOpenSlab = 64 * 1024;

    private ShortLock _gate;
    private InboundLease? _first;
    private InboundLease? _last;
    private Slab? _openSlab;
    private int _openUsed;
    private int _openSize;
    private long _messages;
    private long _bytes;
    private bool _isInLine;
    private bool _isParked;
    private bool _isClosed;
    private QueueLimits _limits = limits;
    private LaneCounts _counts;

    private CacheGap _gap;
    private TakenSide _taken = new() { Limits = limits };

    /// <summary>Where in a lane its parts lie: the last of the sender's fields, the gap, the consumers' fields.</summary>
    public static (int Counts, int Gap, int Taken) Layout { get; } = LayoutOf(new InboundLane(default));

    /// <summary>The pipe whose socket reads it. Null while nobody has bound the inproc name that its sender connected to.</summary>
    public Pipe Pipe => _taken.Pipe!;

    /// <summary>Only the newest message is kept, and no limit applies.</summary>
    public bool Conflates { get; init; }

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
                long messages = Volatile.Read(ref _taken.UnreportedMessages);
                long bytes = Volatile.Read(ref _taken.UnreportedBytes);
                return _counts with { Delivered = _counts.Delivered + messages, QueuedMessages = _messages - messages, QueuedBytes = _bytes - bytes, IsParked = _isParked };
            }
        }
    }

    /// <summary>What the next message will be taken from. The second is written under the lane's own lock, which is not worth taking for a hint.</summary>
    private InboundLease? NextLease => _taken.Current ?? Volatile.Read(ref _first);

    /// <summary>What a message counts against the byte limit: its payload, and the headers it came with.</summary>
    private static long ChargeOf(long payload, int parts) => payload + ((long)ZmpFrame.HeaderSize * parts);

    /// <summary>Gives the lane to the pipe that reads it.</summary>
    /// <returns>True if there are messages already: the caller announces the lane, outside of all locks.</returns>
    public bool BelongTo(Pipe pipe)
    {
        using (_gate.Hold())
        {
            _taken.Pipe = pipe;
            return _isInLine;
        }
    }

    /// <summary>Adds a batch that was read from the wire, and says whether the connection should read on.</summary>
    public Delivery Publish(InboundLease lease)
    {
        InboundLease? obsolete = null;
        bool notify;
        bool park;
        using (_gate.Hold())
        {
            _counts.Received += lease.Messages;
            if (_isClosed)
            {
                _counts.Dropped += lease.Messages;
                notify = false;
                park = false;
            }
            else
            {
                obsolete = Conflates ? KeepNewest(lease) : null;
                Link(lease);
                _messages += lease.Messages;
                _bytes += ChargeOf(lease.Bytes, lease.Unread);
                notify = !_isInLine;
                _isInLine = true;
                park = !Conflates && _limits.IsFull(_messages, _bytes);
                _isParked |= park;
                lease = null!;
            }
        }

        lease?.ReleaseRest();
        InboundLease.ReleaseAll(obsolete);
        if (notify)
        {
            Pipe.Socket.Receive.Enqueue(this);
        }

        return park ? Delivery.Park : Delivery.Continue;
    }

    /// <summary>Whether a parked connection that was resumed may read now. If so it is not told of room, though it may have been going to be: it must read on.</summary>
    public bool MayRead()
    {
        using (_gate.Hold())
        {
            bool isFull = !_isClosed && !Conflates && _limits.IsFull(_messages, _bytes);
            _isParked = isFull || (IsShared && _isParked);
            return !isFull;
        }
    }

    /// <summary>Adds one message of a sender in this process: copies what it does not hand over or share.</summary>
    /// <param name="message">The message.</param>
    /// <param name="slabs">Where memory comes from.</param>
    /// <param name="source">Who sends.</param>
    /// <param name="force">Whatever the limits say: what a socket itself has to tell its peer, or a message that found room before.</param>
    public SendStatus Append(in OutgoingMessage message, Slab.SlabCache slabs, PeerIdentity source, bool force = false)
    {
        // A long payload is copied outside the lock; others go on meanwhile.
        Slab? copy = message.IsLargeCopy ? CopyOf(message.Payload, slabs) : null;
        SendStatus status;
        InboundLease? obsolete = null;
        bool notify = false;
        bool copied = false;
        using (_gate.Hold())
        {
            if (_isClosed)
            {
                status = SendStatus.Closed;
            }
            else if (!force && !Conflates && _limits.IsFull(_messages, _bytes))
            {
                _isParked = true;
                status = SendStatus.Full;
            }
            else
            {
                status = SendStatus.Accepted;
                obsolete = Conflates ? TakeObsolete() : null;
                copied = Add(message, copy, slabs, source);
                copy = null;
                notify = !_isInLine && _taken.Pipe is not null;
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
            Pipe.Socket.Receive.Enqueue(this);
        }

        return status;
    }

    /// <summary>Whether one more message would be taken now; if not, the sender is told when there is room again.</summary>
    public bool HasRoom()
    {
        using (_gate.Hold())
        {
            bool isFull = !Conflates && _limits.IsFull(_messages, _bytes);
            _isParked |= isFull;
            return !_isClosed && !isFull;
        }
    }

    /// <summary>Changes the limits. True if a stopped sender has room now.</summary>
    public bool SetLimits(QueueLimits limits)
    {
        using (_gate.Hold())
        {
            _limits = limits;
            _taken.Limits = limits;
            return TakeParked();
        }
    }

    /// <summary>Takes no more in; what is there stays readable.</summary>
    public void Close()
    {
        using (_gate.Hold())
        {
            _isClosed = true;
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
                lease = null!;
                slot = 0;
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
        if (_taken.IsReportDue)
        {
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
            _counts.Dropped += _messages;
            (InboundLease? Taken, InboundLease? Added) all = (_taken.Current, _first);
            _taken.Current = null;
            _first = null;
            CloseOpenLease();
            _last = null;
            _messages = 0;
            _bytes = 0;
            _isInLine = false;
            return all;
        }
    }

    /// <summary>Leaves the line if nothing is unread. Under the receive queue's lock.</summary>
    public bool LeaveIfEmpty()
    {
        if (_taken.Current is not null)
        {
            return false;
        }

        using (_gate.Hold())
        {
            _isInLine = _first is not null;
            return !_isInLine;
        }
    }

    /// <summary>Nothing is unread. Under the receive queue's lock.</summary>
    public bool IsEmpty()
    {
        using (_gate.Hold())
        {
            return _taken.Current is null && _first is null;
        }
    }

    /// <summary>Takes out what no consumer has taken yet; it is counted as dropped.</summary>
    private InboundLease? TakeObsolete()
    {
        InboundLease? old = _first;
        _first = null;
        _last = null;
        CloseOpenLease();
        for (InboundLease? lease = old; lease is not null; lease = lease.Next)
        {
            _counts.Dropped += lease.Messages;
            _messages -= lease.Messages;
            _bytes -= ChargeOf(lease.Bytes, lease.Unread);
        }

        return old;
    }

    /// <summary>Makes room for a batch of which only the last message counts.</summary>
    private InboundLease? KeepNewest(InboundLease lease)
    {
        _counts.Dropped += lease.KeepLast();
        return TakeObsolete();
    }

    private static (int Counts, int Gap, int Taken) LayoutOf(InboundLane lane) =>
        (CacheLines.OffsetOf(lane, ref lane._counts), CacheLines.OffsetOf(lane, ref lane._gap), CacheLines.OffsetOf(lane, ref lane._taken));

    private static Slab CopyOf(ReadOnlySpan<byte> payload, Slab.SlabCache slabs)
    {
        Slab slab = slabs.Rent(payload.Length);
        payload.CopyTo(slab.Array);
        return slab;
    }

    private bool Report()
    {
        using (_gate.Hold())
        {
            SettleReport();
            return TakeParked();
        }
    }

    private InboundLease? Refill(ref bool resume)
    {
        using (_gate.Hold())
        {
            SettleReport();
            resume |= TakeParked();
            _taken.Current = _first;
            _first = null;
            CloseOpenLease();
            _last = null;
            _isInLine = _taken.Current is not null;
            return _taken.Current;
        }
    }

    private void SettleReport()
    {
        _messages -= _taken.UnreportedMessages;
        _bytes -= _taken.UnreportedBytes;
        _counts.Delivered += _taken.UnreportedMessages;
        _taken.UnreportedMessages = 0;
        _taken.UnreportedBytes = 0;
    }

    private bool TakeParked()
    {
        if (!_isParked || !_limits.IsBelowLowMark(_messages, _bytes))
        {
            return false;
        }

        _isParked = false;
        return true;
    }

    private void Link(InboundLease lease)
    {
        CloseOpenLease();
        if (_first is null)
        {
            _first = lease;
        }
        else
        {
            _last!.Next = lease;
        }

        _last = lease;
    }

    private void CloseOpenLease()
    {
        _openSlab = null; // Its reference belongs to the lease.
    }

    /// <summary>True if handed-over memory was copied, so that its owner can be disposed once the lock is left.</summary>
    private bool Add(in OutgoingMessage message, Slab? copy, Slab.SlabCache slabs, PeerIdentity source)
    {
        InboundLease? lease;
        long before;
        int slots;
        bool copied = true;
        if (message.IsSingle && copy is null && message.Payload.Length < OutboundChain.LargePayload)
        {
            // The common case: a short payload, packed behind its predecessors.
            lease = OpenLease(message.Payload.Length, slabs, source);
            before = lease.Bytes;
            slots = lease.Count;
            message.Payload.CopyTo(_openSlab!.Array.AsSpan(_openUsed));
            lease.AddPart(_openUsed, message.Payload.Length);
            _openUsed += message.Payload.Length;
        }
        else
        {
            lease = InboundLease.Rent(slab: null, source);
            before = 0;
            slots = 0;
            if (copy is not null)
            {
                lease.AddPart(copy, 0, message.Payload.Length);
            }
            else
            {
                copied = message.MoveTo(lease, slabs);
            }

            Link(lease);
        }

        lease.EndMessage();
        _counts.Received++;
        _messages++;
        _bytes += ChargeOf(lease.Bytes - before, lease.Count - slots);
        return copied;
    }

    private InboundLease OpenLease(int needed, Slab.SlabCache slabs, PeerIdentity source)
    {
        Slab? slab = _openSlab;
        if (slab is not null && slab.Array.Length - _openUsed >= needed)
        {
            if (_last!.Count < InboundLease.MaxSlots)
            {
                return _last;
            }

            slab.AddReference(); // Room left, but no slot: the next lease goes on in the same memory.
        }
        else
        {
            _openSize = _first is null ? SmallestOpenSlab : Math.Min(Math.Max(SmallestOpenSlab, _openSize * 4), LargestOpenSlab);
            slab = slabs.Rent(Math.Max(_openSize, needed));
            _openUsed = 0;
        }

        InboundLease lease = InboundLease.Rent(slab, source);
        Link(lease);
        _openSlab = slab;
        return lease;
    }
}

/// <summary>The books of one lane: received = delivered + dropped + queued, in messages.</summary>
internal record struct LaneCounts
{
    public long Received;
    public long Delivered;
    public long Dropped;
    public long QueuedMessages;
    public long QueuedBytes;
    public bool IsParked;
}
