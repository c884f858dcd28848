using Net.Zlink.Buffers;
using Net.Zlink.Engine;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Sockets.Zmp;

namespace Net.Zlink.Sockets.Links;

/// <summary>
/// The lane's lock is held to add a batch, or to take all that was added. The holder of the receive queue's lock reads what was taken
/// without the lane's lock, so a consumer takes both locks once per batch, not once per message.
/// </summary>
internal sealed class InboundLane(QueueLimits limits, ByteBudget? budget = null) : IShareOwner
{
    private ShortLock _gate;
    private ProducerChain _added;
    private InboundLease? _unwanted;
    private bool _isQueued;
    private bool _isClosed;
    private bool _isFiltered;
    private bool _isInArrivalOrder;
    private int _holds;
    private LaneCapacity _capacity = new(limits, budget);
    private LaneCounters _counters;
    private CacheGap _gap;
    private ConsumerState _consumer = new() { Limits = ConsumerState.ReportsOf(limits) };

    public static (int Counters, int Gap, int Taken) Layout { get; } = LayoutOf(new InboundLane(default));

    public PeerLink Link => _consumer.Link!;

    public bool Conflates { get; set; }

    /// <summary>The lane pauses several connections: one that may read does not mean that none waits for capacity.</summary>
    public bool IsShared { get; init; }

    /// <summary>A later connection of the same peer, which is received when this lane is empty. Under the receive queue's lock.</summary>
    public InboundLane? Successor { get; set; }

    public InboundLane? NextToResume
    {
        get => _consumer.NextToResume;
        set => _consumer.NextToResume = value;
    }

    /// <summary>The consumer clears this first, so no later capacity goes unnotified.</summary>
    public bool IsToBeResumed
    {
        get => Volatile.Read(ref _consumer.IsResumePending);
        set => Volatile.Write(ref _consumer.IsResumePending, value);
    }

    /// <summary>Read without a lock: true was so a moment ago, false says nothing.</summary>
    public bool HasDequeued => Volatile.Read(ref _consumer.Current) is not null;

    public LaneCounts Counts
    {
        get
        {
            using (_gate.EnterScope())
            {
                (long messages, long bytes) = (Volatile.Read(ref _consumer.UnreportedMessages),
                    Volatile.Read(ref _consumer.UnreportedBytes));
                LaneCounts counts = _counters.At(_capacity.Messages - messages, _capacity.Bytes - bytes, messages, bytes);
                return counts with { IsPaused = _capacity.IsPaused, FullCause = _capacity.FullCause };
            }
        }
    }

    private InboundLease? NextLease => _consumer.Current ?? Volatile.Read(ref _added.First);

    private SendStatus Admit(bool force) => _isClosed ? SendStatus.Closed
        : !force && !Conflates && _capacity.PauseIfFull(this) ? SendStatus.Full
        : SendStatus.Accepted;

    private static long ChargeOf(long payload, int parts) => payload + ((long)ZmpFrame.HeaderSize * parts);

    public int BelongTo(PeerLink link)
    {
        using (_gate.EnterScope())
        {
            _consumer.Link = link;
            _isFiltered = link.Socket.InboundRole == InboundRole.Filtered;
            _isInArrivalOrder = link.Socket.Receive.IsInArrivalOrder;
            return (int)_capacity.Messages;
        }
    }

    public Delivery Publish(InboundLease lease)
    {
        Delivery delivery = Enqueue(lease, out int updates);
        if (updates > 0)
        {
            Link.Socket.Announce(this, updates);
        }

        return delivery;
    }

    public Delivery Enqueue(InboundLease lease, out int updates)
    {
        InboundLease? obsolete = null;
        bool pause;
        using (_gate.EnterScope())
        {
            if (_isClosed)
            {
                _counters.Drop(lease.Messages, ChargeOf(lease.Bytes, lease.Unread));
                updates = 0;
                pause = false;
            }
            else
            {
                obsolete = Conflates ? ConflateToNewest(lease) : null;
                _capacity.Add(lease.Messages, ChargeOf(lease.Bytes, lease.Unread));
                updates = _isQueued && !_isInArrivalOrder ? 0 : lease.Messages;
                _added.Append(lease);
                _isQueued = true;
                pause = !Conflates && _capacity.PauseIfFull(this);
                lease = null!;
            }
        }

        lease?.ReleaseRemaining();
        InboundLease.ReleaseAll(obsolete);
        return pause ? Delivery.Pause : Delivery.Continue;
    }

    /// <summary>A connection that may read must read, because it gets no further notice.</summary>
    public bool MayRead()
    {
        using (_gate.EnterScope())
        {
            bool isFull = !_isClosed && !Conflates && _capacity.PauseIfFull(this);
            _capacity.IsPaused &= isFull || IsShared;
            return !isFull;
        }
    }

    public SendStatus Append(in OutgoingMessage message, Slab.SlabCache slabs, PeerIdentity source, bool force = false, int checkedAt = 0)
    {
        try
        {
            return AppendOrThrow(message, slabs, source, force, checkedAt);
        }
        catch (OutOfMemoryException)
        {
            return SendStatus.NoMemory;
        }
    }

    private SendStatus AppendOrThrow(in OutgoingMessage message, Slab.SlabCache slabs, PeerIdentity source, bool force, int checkedAt)
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
        bool notify = false;
        bool copied = false;
        using (_gate.EnterScope())
        {
            status = Admit(force);
            if (status == SendStatus.Accepted)
            {
                obsolete = Conflates ? DequeueObsolete() : null;
                copied = _added.Add(message, copy, slabs, source, checkedAt, out int parts, out long bytes);
                _capacity.Add(1, ChargeOf(bytes, parts));
                copy = null;
                notify = (!_isQueued || _isInArrivalOrder) && _consumer.Link is not null;
                _isQueued = true;
            }
        }

        copy?.Release();
        InboundLease.ReleaseAll(obsolete);
        if (copied && message.Owner is { } owner)
        {
            DeferredDisposal.Dispose(owner);
        }

        if (notify)
        {
            Link.Socket.Announce(this, messages: 1);
        }

        return status;
    }

    public void CountFiltered(int messages, long bytes)
    {
        using (_gate.EnterScope())
        {
            _counters.Filter(messages, bytes);
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

    public bool SetLimits(QueueLimits limits)
    {
        using (_gate.EnterScope())
        {
            _capacity.Change(limits);
            _consumer.Limits = ConsumerState.ReportsOf(limits);
            return _capacity.ResumeForAny(this);
        }
    }

    /// <summary>Read without the consumers' lock; decreases only under the lane's lock.</summary>
    public long BytesRemoved => Volatile.Read(ref _consumer.UnreportedBytes);

    /// <inheritdoc cref="ByteShare.SenderCanContinue"/>
    public Action? SenderCanContinue { get => _capacity.SenderCanContinue; set => _capacity.SenderCanContinue = value; }

    public void OnBudgetAvailable()
    {
        bool resume;
        PeerLink? reader;
        using (_gate.EnterScope())
        {
            resume = _capacity.ResumeForAny(this);
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
            if (_added.ConflateToNewest(out obsolete) is { } newest)
            {
                long kept = ChargeOf(newest.Bytes, newest.Unread);
                (long messages, long bytes) = (_capacity.Messages - 1, _capacity.Bytes - kept);
                _counters.Drop(messages, bytes);
                _capacity.Remove(messages, bytes);
                _capacity.Resume();
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
            _capacity.MarkDetached();
        }
    }

    public void FetchLease()
    {
        CacheLines.Fetch(NextLease);
        CacheLines.Fetch(Link);
    }

    public void FetchSlot() => NextLease?.FetchSlot();

    public void FetchPayload() => NextLease?.FetchPayload();

    public bool TryDequeue(out InboundLease lease, out int slot, ref bool resume)
    {
        InboundLease? current = _consumer.Current;
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
        _consumer.UnreportedMessages++;
        _consumer.UnreportedBytes += ChargeOf(current.BytesOf(slot), parts);

        // From here on a consumer may end these messages and so the lease.
        int next = slot + parts;
        if (next == current.Count)
        {
            _consumer.Current = current.Next;
        }

        current.Cursor = next;
        if (_consumer.IsReportNeeded || (_consumer.Current is null && (_isInArrivalOrder || _capacity.IsPaused)))
        {
            // Also at the last message if no dequeue follows, and if a sender waits far below the lane's own limits.
            resume |= Report();
        }

        return true;
    }

    /// <summary>Under the receive queue's lock; release the result outside of it.</summary>
    public (InboundLease? Taken, InboundLease? Added) Drop()
    {
        using (_gate.EnterScope())
        {
            _isClosed = true;
            SettleReport();
            _counters.Drop(_capacity.Messages, _capacity.Bytes);
            (InboundLease? Taken, InboundLease? Added) all = (_consumer.Current, _added.DequeueAll());
            _consumer.Current = null;
            _capacity.Clear();
            _isQueued = false;
            return all;
        }
    }

    public bool LeaveIfEmpty(ref bool resume)
    {
        if (_consumer.Current is not null)
        {
            return false;
        }

        using (_gate.EnterScope())
        {
            if (_isFiltered)
            {
                resume |= Refilter();
            }

            _isQueued = _added.First is not null;
            if (!_isQueued)
            {
                SettleReport();
                resume |= _capacity.Resume();
            }

            return !_isQueued;
        }
    }

    /// <summary>The filter changed: dequeued messages return to the front for another check.</summary>
    public void PutBack()
    {
        if (_consumer.Current is { } current)
        {
            using (_gate.EnterScope())
            {
                _consumer.Current = null;
                _added.PutBack(current);
            }
        }
    }

    public InboundLease? DequeueUnwanted() => _isFiltered ? Interlocked.Exchange(ref _unwanted, null) : null;

    /// <summary>Nothing is unread, and it waits behind no other lane.</summary>
    public bool IsDrained()
    {
        using (_gate.EnterScope())
        {
            return _consumer.Current is null && _added.First is null && _holds == 0;
        }
    }

    /// <summary>Nothing of the lane is received before as many calls of <see cref="EndHold"/>. Not for queues in arrival order.</summary>
    public void Hold()
    {
        using (_gate.EnterScope())
        {
            _holds++;
            _isQueued = true; // So nobody announces it.
        }
    }

    /// <summary>True: messages have come meanwhile, and the caller announces the lane.</summary>
    public bool EndHold()
    {
        using (_gate.EnterScope())
        {
            _holds--;
            _isQueued = _holds > 0 || _added.First is not null;
            return _holds == 0 && _isQueued;
        }
    }

    private InboundLease? DequeueObsolete()
    {
        InboundLease? old = _added.DequeueAll();
        for (InboundLease? lease = old; lease is not null; lease = lease.Next)
        {
            long bytes = ChargeOf(lease.Bytes, lease.Unread);
            _counters.Drop(lease.Messages, bytes);
            _capacity.Remove(lease.Messages, bytes);
        }

        return old;
    }

    private InboundLease? ConflateToNewest(InboundLease lease)
    {
        long bytes = ChargeOf(lease.Bytes, lease.Unread);
        int superseded = lease.ConflateToLast();
        _counters.Drop(superseded, bytes - ChargeOf(lease.Bytes, lease.Unread));
        return DequeueObsolete();
    }

    private static (int Counters, int Gap, int Taken) LayoutOf(InboundLane lane) =>
        (CacheLines.OffsetOf(lane, ref lane._counters), CacheLines.OffsetOf(lane, ref lane._gap),
            CacheLines.OffsetOf(lane, ref lane._consumer));

    private bool Report()
    {
        using (_gate.EnterScope())
        {
            SettleReport();
            return _capacity.Resume();
        }
    }

    private InboundLease? Refill(ref bool resume)
    {
        using (_gate.EnterScope())
        {
            SettleReport();
            resume |= _capacity.Resume();
            if (_isFiltered)
            {
                resume |= Refilter();
                _consumer.Current = _added.DequeueFiltered(Link.Socket.FilterVersion);
            }
            else
            {
                _consumer.Current = _added.DequeueAll();
            }

            _isQueued = _consumer.Current is not null;
            return _consumer.Current;
        }
    }

    private bool Refilter()
    {
        var filteredOut = default(FilteredOut);
        _added.FilterFront(Link.Socket, Link.Socket.FilterVersion, ref filteredOut);
        if (filteredOut.Messages == 0)
        {
            return false;
        }

        SettleReport();
        long bytes = ChargeOf(filteredOut.Bytes, filteredOut.Parts);
        _capacity.Remove(filteredOut.Messages, bytes);
        _counters.Drop(filteredOut.Messages, bytes);
        _capacity.Resume();
        filteredOut.Add(Interlocked.Exchange(ref _unwanted, null));
        Volatile.Write(ref _unwanted, filteredOut.Leases);
        return true;
    }

    private void SettleReport()
    {
        _capacity.Remove(_consumer.UnreportedMessages, _consumer.UnreportedBytes);
        _counters.Deliver(_consumer.UnreportedMessages, _consumer.UnreportedBytes);
        (_consumer.UnreportedMessages, _consumer.UnreportedBytes) = (0, 0);
    }
}
