using Net.Zlink.Buffers;
using Net.Zlink.Engine;
using Net.Zlink.Protocol.Zmp;

namespace Net.Zlink.Sockets.Links;

/// <summary>
/// The lane's lock is held to add a batch, or to take all that was added. The holder of the receive queue's lock reads what was taken
/// without the lane's lock, so a consumer takes both locks once per batch, not once per message.
/// </summary>
internal sealed partial class InboundLane(QueueLimits limits, ByteBudget? budget = null, TotalByteLimit? total = null)
    : IShareOwner, IReadLimit
{
    private ShortLock _gate;
    private ProducerChain _added;
    private InboundLease? _unwanted;
    private bool _isQueued;
    private bool _isClosed;
    private bool _isInArrivalOrder;
    private int _holds;
    private bool _isConnectUnread;
    private bool _isEndUnread;
    private bool _isFiltered;
    private LaneCapacity _capacity = new(limits, budget, total);
    private LaneCounters _counters;
    private CacheGap _gap;
    private ConsumerState _consumer = new() { Limits = ConsumerState.ReportsOf(limits) };

    public static (int Counters, int Gap, int Taken) Layout { get; } = LayoutOf(new InboundLane(default));

    public LaneOwner Link => _consumer.Link!;

    public bool Conflates { get; set; }

    /// <summary>The lane pauses several connections: one that may read does not mean that none waits for capacity.</summary>
    public bool IsShared { get; init; }

    /// <summary>A later connection of the same peer, which is received when this lane is empty. Under the receive queue's lock.</summary>
    public InboundLane? Successor { get; set; }

    /// <summary>The application is notified of the peer before its first message (STREAM).</summary>
    public bool NotifiesOfConnect
    {
        init => _isConnectUnread = value;
    }

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

    private static long ChargeOf(long payload, int parts) => payload + ((long)ZmpFrame.HeaderSize * parts);

    public int BelongTo(LaneOwner link)
    {
        using (_gate.EnterScope())
        {
            _consumer.Link = link;
            _isFiltered = link.IsFiltered;
            _isInArrivalOrder = link.IsInArrivalOrder;
            return (int)_capacity.Messages;
        }
    }

    public Delivery Publish(InboundLease lease)
    {
        Delivery delivery = Enqueue(lease, out int updates);
        if (updates > 0)
        {
            Link.Announce(this, updates);
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

    public void AnnounceConnect() => AnnounceNotice(isEnd: false);

    /// <summary>The application is notified after the last message, also of a lane that was dropped.</summary>
    public void AnnounceEnd() => AnnounceNotice(isEnd: true);

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

    public long FreeReads
    {
        get
        {
            using (_gate.EnterScope())
            {
                int mark = _consumer.Limits.Messages;
                return mark == 0 ? long.MaxValue
                    : Math.Max(1, mark - _capacity.Messages + Volatile.Read(ref _consumer.UnreportedMessages));
            }
        }
    }

    public void CountFiltered(int messages, long bytes)
    {
        using (_gate.EnterScope())
        {
            _counters.Filter(messages, bytes);
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
        LaneOwner? reader;
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

    public bool TryDequeue(out DequeuedMessage dequeued, ref bool resume)
    {
        InboundLease? current = _consumer.Current;
        if (current is null)
        {
            current = Refill(out LaneNotice notice, ref resume);
            if (current is null)
            {
                dequeued = new DequeuedMessage(null!, 0, Link, notice);
                return notice != LaneNotice.None;
            }
        }

        int slot = current.Cursor;
        dequeued = new DequeuedMessage(current, slot, Link);
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
        if (_consumer.IsReportNeeded || (_consumer.Current is null && (_isInArrivalOrder || _capacity.IsAwaited)))
        {
            // Also at the last message if no dequeue follows, and if a sender waits far below the lane's own limits.
            resume |= Report();
        }

        return true;
    }

    /// <summary>What this turn took is reported: others may wait for it, and the lane's next turn is far.</summary>
    public bool EndTurn() => Report();

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

            _isQueued = _added.First is not null || _isConnectUnread || _isEndUnread;
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

    private void AnnounceNotice(bool isEnd)
    {
        bool announces;
        using (_gate.EnterScope())
        {
            _isEndUnread |= isEnd;
            announces = !_isQueued && (_isConnectUnread || _isEndUnread);
            _isQueued |= announces;
        }

        if (announces)
        {
            Link.Announce(this, messages: 0);
        }
    }

    private InboundLease? Refill(out LaneNotice notice, ref bool resume)
    {
        notice = LaneNotice.None;
        using (_gate.EnterScope())
        {
            SettleReport();
            resume |= _capacity.Resume();
            if (_isConnectUnread)
            {
                _isConnectUnread = false;
                notice = LaneNotice.Connected;
                return null;
            }

            if (_isFiltered)
            {
                resume |= Refilter();
                _consumer.Current = _added.DequeueFiltered(Link.FilterVersion);
            }
            else
            {
                _consumer.Current = _added.DequeueAll();
            }

            if (_consumer.Current is null && _isEndUnread)
            {
                _isEndUnread = false;
                notice = LaneNotice.Disconnected;
                return null;
            }

            _isQueued = _consumer.Current is not null;
            return _consumer.Current;
        }
    }

    private bool Refilter()
    {
        var filteredOut = default(FilteredOut);
        _added.FilterFront(Link, Link.FilterVersion, ref filteredOut);
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
