using Net.Zlink.Buffers;
using Net.Zlink.Engine;
using Net.Zlink.Flow;
using Net.Zlink.Protocol.Zmp;

namespace Net.Zlink.Sockets.Links;

/// <summary>
/// The lane's lock is held to add a batch, or to take all that was added. The holder of the receive queue's lock reads what was taken
/// without the lane's lock, so a consumer takes both locks once per batch, not once per message.
/// </summary>
internal sealed partial class InboundLane(QueueLimits limits, ContextQuota? context = null, SocketQuota? total = null) : IQuotaOwner
{
    private ShortLock _gate;
    private LeaseChain _added;
    private List<InboundRun>? _unwanted;
    private bool _isQueued;
    private bool _isClosed;
    private bool _isInArrivalOrder; // Not beside what a consumer writes: a sender reads it for each message.
    private int _holds;
    private bool _isConnectUnread;
    private bool _isEndUnread;
    private Quota _quota = new(limits, context, total);
    private CacheGap _gap;
    private Consumer _consumer = new() { Limits = ReportsOf(limits) };
    private CacheGap _end; // What lies behind the lane in memory is often its link, which a sender reads for each message.

    /// <summary>Where the counts are that a sender writes for each message, and between two gaps what a consumer writes.</summary>
    public static (int Counts, int Gap, int Consumer, int End) Layout { get; } = LayoutOf(new InboundLane(default));

    public bool Conflates { get; set; }

    /// <summary>The lane pauses several connections: one that may read does not mean that none waits for capacity.</summary>
    public bool IsShared { get; init; }

    /// <summary>The application is notified of the peer before its first message (STREAM).</summary>
    public bool NotifiesOfConnect
    {
        init => _isConnectUnread = value;
    }

    /// <inheritdoc cref="Quota.IsRefused"/>
    public bool IsPaused => _quota.IsRefused;

    /// <inheritdoc cref="Quota.Cause"/>
    public FullCause FullCause => _quota.Cause;

    /// <summary>What consumers have taken and not reported yet is no longer queued.</summary>
    public QueueCounts Counts
    {
        get
        {
            using (_gate.EnterScope())
            {
                (long messages, long bytes) = (Volatile.Read(ref _consumer.UnreportedMessages), BytesRemoved);
                QueueCounts counts = _quota.Counts;
                counts.TakenMessages += messages;
                counts.TakenBytes += bytes;
                counts.QueuedMessages -= messages;
                counts.QueuedBytes -= bytes;
                return counts;
            }
        }
    }

    public SendStatus Status
    {
        get
        {
            using (_gate.EnterScope())
            {
                return Admit(force: false);
            }
        }
    }

    private static long ChargeOf(long payload, int parts) => payload + ((long)ZmpFrame.HeaderSize * parts);

    public int BelongTo(LaneOwner link)
    {
        using (_gate.EnterScope())
        {
            _consumer.Link = link;
            _consumer.IsFiltered = link.IsFiltered;
            _isInArrivalOrder = link.IsInArrivalOrder;
            return (int)_quota.Counts.QueuedMessages;
        }
    }

    /// <summary>
    /// False: the lane is full, and the connection that fills it pauses. <paramref name="updates"/>: For the receive queue; 0: it knows.
    /// </summary>
    public bool Enqueue(InboundLease lease, out int updates)
    {
        InboundLease? obsolete = null;
        bool continues = true;
        using (_gate.EnterScope())
        {
            if (_isClosed)
            {
                _quota.Counts.Drop(lease.Messages, ChargeOf(lease.Bytes, lease.Unread));
                updates = 0;
            }
            else
            {
                obsolete = Conflates ? ConflateToNewest(lease) : null;
                _quota.Add(lease.Messages, ChargeOf(lease.Bytes, lease.Unread));
                updates = _isQueued && !_isInArrivalOrder ? 0 : lease.Messages;
                _added.Append(lease);
                _isQueued = true;
                continues = Conflates || _quota.TryAdmit(this);
                lease = null!;
            }
        }

        lease?.ReleaseRemaining();
        InboundLease.ReleaseAll(obsolete);
        return continues;
    }

    /// <summary>Of a sender in this process. <paramref name="announces"/>: The caller puts the lane into the receive queue.</summary>
    public SendStatus Append(
        in OutgoingMessage message, Slab.SlabCache slabs, PeerIdentity source, out bool announces, bool force = false, int checkedAt = 0)
    {
        announces = false;
        try
        {
            return AppendOrThrow(message, slabs, source, force, checkedAt, ref announces);
        }
        catch (OutOfMemoryException)
        {
            return SendStatus.NoMemory;
        }
    }

    /// <summary>
    /// The connect was noted when the lane was made. Of the end the application is notified after the last message, also if the lane was
    /// dropped. True: the caller puts the lane into the receive queue.
    /// </summary>
    public bool AddNotice(bool isEnd)
    {
        using (_gate.EnterScope())
        {
            _isEndUnread |= isEnd;
            bool announces = !_isQueued && (_isConnectUnread || _isEndUnread);
            _isQueued |= announces;
            return announces;
        }
    }

    /// <summary>A connection that may read must read, because it gets no further notice.</summary>
    public bool MayRead()
    {
        using (_gate.EnterScope())
        {
            return MayReadUnderLock();
        }
    }

    /// <summary>About how many connections may read now; 0: none may.</summary>
    public long FreeReads
    {
        get
        {
            using (_gate.EnterScope())
            {
                int mark = _consumer.Limits.Messages;
                return !MayReadUnderLock() ? 0
                    : mark == 0 ? long.MaxValue
                    : Math.Max(1, mark - _quota.Counts.QueuedMessages + Volatile.Read(ref _consumer.UnreportedMessages));
            }
        }
    }

    public void CountFiltered(int messages, long bytes)
    {
        using (_gate.EnterScope())
        {
            _quota.Counts.FilteredMessages += messages;
            _quota.Counts.TakenBytes += bytes;
        }
    }

    public bool SetLimits(QueueLimits limits)
    {
        using (_gate.EnterScope())
        {
            _quota.Change(limits);
            _consumer.Limits = ReportsOf(limits);
            return _quota.TryResumeForAny(this);
        }
    }

    /// <summary>Read without the consumers' lock; decreases only under the lane's lock.</summary>
    public long BytesRemoved => Volatile.Read(ref _consumer.UnreportedBytes);

    /// <summary>Called instead of the link, while the lane has none.</summary>
    public Action? SenderCanContinue { get; set; }

    public void OnQuotaAvailable()
    {
        bool resume;
        LaneOwner? reader;
        using (_gate.EnterScope())
        {
            resume = _quota.TryResumeForAny(this);
            reader = _consumer.Link;
        }

        if (resume)
        {
            (reader is null ? SenderCanContinue : reader.OnLaneCapacity)?.Invoke();
        }
    }

    public void Conflate()
    {
        InboundLease? obsolete;
        DeferredDisposal.Defer();
        using (_gate.EnterScope())
        {
            Conflates = true;
            obsolete = null;
            InboundLease? newest = _added.DequeueAll();
            while (newest?.Next is { } next)
            {
                newest.Next = obsolete;
                obsolete = newest;
                newest = next;
            }

            if (newest is not null)
            {
                newest.ConflateToLast();
                _added.Append(newest);
                _quota.Drop(_quota.Counts.QueuedMessages - 1, _quota.Counts.QueuedBytes - ChargeOf(newest.Bytes, newest.Unread));
                _quota.TryResume();
            }
        }

        DeferredDisposal.DisposeDeferred();
        InboundLease.ReleaseAll(obsolete);
    }

    public void Close()
    {
        using (_gate.EnterScope())
        {
            _isClosed = true;
        }
    }

    public void MarkDetached()
    {
        using (_gate.EnterScope())
        {
            _quota.MarkDetached();
        }
    }

    private static (int Counts, int Gap, int Consumer, int End) LayoutOf(InboundLane lane) =>
        (CacheLines.OffsetOf(lane, ref lane._quota.Counts), CacheLines.OffsetOf(lane, ref lane._gap),
            CacheLines.OffsetOf(lane, ref lane._consumer), CacheLines.OffsetOf(lane, ref lane._end));

    private SendStatus AppendOrThrow(
        in OutgoingMessage message, Slab.SlabCache slabs, PeerIdentity source, bool force, int checkedAt, ref bool announces)
    {
        // A long payload is copied outside of the lock. The limit is checked first, so a full lane costs no copy.
        if (message.IsLargeCopy && !force && Status is not SendStatus.Accepted and var refusal)
        {
            return refusal;
        }

        // So is what replaces an earlier message, which stays if no buffer can be had.
        Slab? copy = message.IsLargeCopy || (Conflates && message.IsShort)
            ? slabs.Copy(message.Payload) : null;
        message.Built?.PutIntoArrays(slabs.Pool);

        SendStatus status;
        InboundLease? obsolete = null;
        bool copied = false;
        using (_gate.EnterScope())
        {
            status = Admit(force);
            if (status == SendStatus.Accepted)
            {
                obsolete = Conflates ? DequeueObsolete() : null;
                copied = _added.Add(message, copy, slabs, source, checkedAt, out int parts, out long bytes);
                _quota.Add(1, ChargeOf(bytes, parts));
                copy = null;
                announces = (!_isQueued || _isInArrivalOrder) && _consumer.Link is not null;
                _isQueued = true;
            }
        }

        copy?.Release();
        InboundLease.ReleaseAll(obsolete);
        if (copied && message.Owner is { } owner)
        {
            DeferredDisposal.Dispose(owner);
        }

        return status;
    }

    private SendStatus Admit(bool force) => _isClosed ? SendStatus.Closed
        : force || Conflates || _quota.TryAdmit(this) ? SendStatus.Accepted
        : SendStatus.Full;

    private bool MayReadUnderLock()
    {
        bool isFull = Admit(force: false) == SendStatus.Full;
        _quota.IsRefused &= isFull || IsShared;
        return !isFull;
    }

    private InboundLease? DequeueObsolete()
    {
        InboundLease? old = _added.DequeueAll();
        for (InboundLease? lease = old; lease is not null; lease = lease.Next)
        {
            _quota.Drop(lease.Messages, ChargeOf(lease.Bytes, lease.Unread));
        }

        return old;
    }

    private InboundLease? ConflateToNewest(InboundLease lease)
    {
        long bytes = ChargeOf(lease.Bytes, lease.Unread);
        int superseded = lease.ConflateToLast();
        _quota.Counts.Drop(superseded, bytes - ChargeOf(lease.Bytes, lease.Unread));
        return DequeueObsolete();
    }
}

/// <summary>
/// A lane's messages that no consumer has dequeued: a chain of leases. The last one may be open: short inproc messages are packed into its
/// memory.
/// </summary>
internal struct LeaseChain
{
    // An open lease starts with some dozens of short messages and grows fourfold up to a read's size, so a quiet link holds little.
    private const int MinOpenSlabSize = 4 * 1024;
    private const int MaxOpenSlabSize = 64 * 1024;

    private InboundLease? _last;
    private bool _isOpen;
    private Slab? _openSlab;
    private int _openUsed;
    private int _openSize;

    public InboundLease? First;

    /// <summary>
    /// Short messages of short reads are packed behind earlier ones: a lease (0.6 KB) costs 20 times what a message of some bytes counts.
    /// </summary>
    public void Append(InboundLease lease)
    {
        if (_last is { } last && !_isOpen && last.TryAbsorb(lease))
        {
            return;
        }

        Link(lease);
    }

    public InboundLease? DequeueAll()
    {
        InboundLease? all = First;
        First = null;
        _last = null;
        _isOpen = false;
        _openSlab = null;
        return all;
    }

    public void PutBack(InboundLease first)
    {
        InboundLease last = first;
        while (last.Next is { } next)
        {
            last = next;
        }

        last.Next = First;
        _last ??= last;
        First = first;
    }

    /// <summary>
    /// Adds one message: with one part to the open lease, with several to a lease of its own, because parts keep their memory until the
    /// lease's last message has ended.
    /// </summary>
    public bool Add(in OutgoingMessage message, Slab? copy, Slab.SlabCache slabs, PeerIdentity source, int checkedAt, out int parts,
        out long bytes)
    {
        InboundLease? lease;
        bool copied = true;
        if (message.IsShort && copy is null)
        {
            bytes = message.Payload.Length;
            parts = 1;
            lease = OpenLease(message.Payload.Length, slabs, source, checkedAt);
            message.Payload.CopyTo(_openSlab!.Array.AsSpan(_openUsed));
            lease.AddPart(_openUsed, message.Payload.Length);
            _openUsed += message.Payload.Length;
        }
        else
        {
            bool isOnePart = message.PartCount == 1 && message.Kind != MessageKind.Built;
            bool isAnother = !isOnePart || !_isOpen || _last!.Count == InboundLease.MaxSlots || _last.CheckedAtVersion > checkedAt
                || !ReferenceEquals(_last.Source, source);
            lease = isAnother ? InboundLease.Rent(slab: null, source, checkedAt) : _last!;
            (parts, bytes) = (lease.Count, lease.Bytes);
            if (copy is not null)
            {
                lease.AddPart(copy, 0, message.Payload.Length);
            }
            else
            {
                copied = message.MoveTo(lease, slabs);
            }

            (parts, bytes) = (lease.Count - parts, lease.Bytes - bytes);
            if (isAnother)
            {
                Link(lease); // Not before it holds a message: transferred memory may turn out to be disposed.
                _isOpen = isOnePart;
            }
        }

        lease.EndMessage();
        return copied;
    }

    private void Link(InboundLease lease)
    {
        _isOpen = false;
        _openSlab = null;
        if (First is null)
        {
            First = lease;
        }
        else
        {
            _last!.Next = lease;
        }

        _last = lease;
    }

    private InboundLease OpenLease(int needed, Slab.SlabCache slabs, PeerIdentity source, int checkedAt)
    {
        Slab? slab = _openSlab;
        if (slab is not null && slab.Array.Length - _openUsed >= needed)
        {
            if (_last!.Count < InboundLease.MaxSlots && _last.CheckedAtVersion <= checkedAt)
            {
                return _last;
            }

            slab.AddReference();
        }
        else
        {
            _openSize = First is null ? MinOpenSlabSize : Math.Min(Math.Max(MinOpenSlabSize, _openSize * 4), MaxOpenSlabSize);
            slab = slabs.Rent(Math.Max(_openSize, needed));
            _openUsed = 0;
        }

        InboundLease lease = InboundLease.Rent(slab, source, checkedAt);
        Link(lease);
        _isOpen = true;
        _openSlab = slab;
        return lease;
    }
}
