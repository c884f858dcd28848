using System.Runtime.CompilerServices;
using Net.Zlink.Buffers;
using Net.Zlink.Engine;

namespace Net.Zlink.Sockets.Links;

/// <content>What its consumer does, which holds the receive queue's lock.</content>
internal sealed partial class InboundLane
{
    // Unreported bytes still count as unread, also for the context. At most half of this is unreported, whatever the lane's own limit.
    private const long ReportLimitBytes = 4 * 1024 * 1024;

    public LaneOwner Link => _consumer.Link!;

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

    private InboundLease? NextLease => _consumer.Current ?? Volatile.Read(ref _added.First);

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
        Advance(current, slot + parts);
        if (_consumer.IsFiltered)
        {
            resume |= DropUnwanted();
        }

        if (_consumer.Limits.IsHalf(_consumer.UnreportedMessages, _consumer.UnreportedBytes)
            || (_consumer.Current is null && (_isInArrivalOrder || _quota.IsAwaited)))
        {
            // Also at the last message if no dequeue follows, and if a sender waits far below the lane's own limits.
            resume |= Report();
        }

        return true;
    }

    /// <summary>Under the receive queue's lock; release the result outside of it.</summary>
    public InboundLease? Drop()
    {
        using (_gate.EnterScope())
        {
            _isClosed = true;
            SettleReport();
            _quota.DropAll();
            _isQueued = false;
            ReturnDequeued();
            return _added.DequeueAll();
        }
    }

    public bool LeaveIfEmpty(ref bool resume)
    {
        if (_consumer.Current is not null)
        {
            return false;
        }

        if (_consumer.IsFiltered)
        {
            return Refill(out _, ref resume) is null;
        }

        using (_gate.EnterScope())
        {
            _isQueued = _added.First is not null || _isConnectUnread || _isEndUnread;
            if (!_isQueued)
            {
                SettleReport();
                resume |= _quota.TryResume();
            }

            return !_isQueued;
        }
    }

    /// <summary>The filter changed: dequeued messages return to the front for another check.</summary>
    public void PutBack()
    {
        using (_gate.EnterScope())
        {
            ReturnDequeued();
        }
    }

    /// <summary>Outside all locks: donated memory's owner is application code.</summary>
    public void ReleaseUnwanted()
    {
        if (Volatile.Read(ref _unwanted) is not null)
        {
            List<InboundRun>? unwanted;
            using (_gate.EnterScope())
            {
                unwanted = _unwanted;
                _unwanted = null;
            }

            unwanted?.ForEach(static message => message.Release());
        }
    }

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

    private void ReturnDequeued()
    {
        if (_consumer.Current is { } current)
        {
            _consumer.Current = null;
            _added.PutBack(current);
        }
    }

    private static QueueLimits ReportsOf(QueueLimits limits)
    {
        long bytes = limits.Bytes is 0 or > ReportLimitBytes ? ReportLimitBytes : limits.Bytes;
        return limits with { Bytes = bytes };
    }

    /// <summary>What was taken is no longer unread. True: a sender is to be notified.</summary>
    public bool Report()
    {
        using (_gate.EnterScope())
        {
            SettleReport();
            return _quota.TryResume();
        }
    }

    private void SettleReport()
    {
        _quota.Take(_consumer.UnreportedMessages, _consumer.UnreportedBytes);
        (_consumer.UnreportedMessages, _consumer.UnreportedBytes) = (0, 0);
    }

    private void Advance(InboundLease lease, int next)
    {
        if (next == lease.Count)
        {
            _consumer.Current = lease.Next;
        }

        lease.Cursor = next;
    }

    private InboundLease? Refill(out LaneNotice notice, ref bool resume)
    {
        bool areDropped;
        do
        {
            using (_gate.EnterScope())
            {
                SettleReport();
                resume |= _quota.TryResume();
                notice = _isConnectUnread ? LaneNotice.Connected
                    : _added.First is null && _isEndUnread ? LaneNotice.Disconnected
                    : LaneNotice.None;
                _isConnectUnread = false;
                if (notice != LaneNotice.None)
                {
                    _isEndUnread &= notice != LaneNotice.Disconnected;
                    return null;
                }

                _consumer.Current = _added.DequeueAll();
                _isQueued = _consumer.Current is not null;
            }

            areDropped = _consumer.IsFiltered && DropUnwanted();
            resume |= areDropped;
        }
        while (areDropped && _consumer.Current is null);

        return _consumer.Current;
    }

    /// <summary>
    /// Afterwards the next message is one that the socket wants. True: some were dropped, and <see cref="ReleaseUnwanted"/> follows.
    /// </summary>
    private bool DropUnwanted()
    {
        bool areDropped = false;
        LaneOwner filter = Link;
        while (_consumer.Current is { } lease && lease.CheckedAtVersion != filter.FilterVersion)
        {
            int slot = lease.Cursor;
            (Slab slab, int offset, int length) = lease.PartAt(slot);
            if (filter.Accepts(slab.Array.AsSpan(offset, length)))
            {
                break;
            }

            int parts = lease.PartsOf(slot);
            using (_gate.EnterScope())
            {
                _quota.Drop(1, ChargeOf(lease.BytesOf(slot), parts));
                (_unwanted ??= []).Add(new InboundRun(lease, slot, Count: 1, lease.GenerationOf(slot)));
            }

            Advance(lease, slot + parts);
            areDropped = true;
        }

        return areDropped;
    }

    /// <summary>
    /// Apart from what the sender writes for each message. On common cache lines both sides slowed down to a third
    /// (docs/benchmarks/log.md, "Two processors, one line").
    /// </summary>
    private struct Consumer
    {
        public InboundLease? Current;

        public LaneOwner? Link;

        public InboundLane? NextToResume;

        /// <summary>A copy of the lane's limits, because each dequeue reads it.</summary>
        public QueueLimits Limits;

        public long UnreportedMessages;

        public long UnreportedBytes;

        public bool IsResumePending;

        public bool IsFiltered;
    }

    /// <summary>
    /// A cache line of padding. With the counts before the first, which are seldom written, it keeps two lines between its neighbours:
    /// processors prefetch the adjacent one.
    /// </summary>
    [InlineArray(PaddingLongs)]
    private struct CacheGap
    {
        private const int PaddingLongs = 8;

        private long _first;
    }
}

/// <summary>What a lane, the receive queue and the counters need of a link, of ZMP and of STREAM alike.</summary>
internal abstract class LaneOwner
{
    private bool _countersFinal;

    /// <summary>The connection that fills the lane now.</summary>
    public abstract Connection? Reader { get; }

    public abstract QueueCounts Outbound { get; }

    public abstract QueueCounts Inbound { get; }

    /// <summary>Each message is checked once more when it is received: the application may want less by then.</summary>
    public virtual bool IsFiltered => false;

    /// <summary>Changes with what the application wants.</summary>
    public virtual int FilterVersion => 0;

    public virtual bool IsInArrivalOrder => false;

    public bool AreCountersFinal => _countersFinal;

    /// <summary>Written under the lock of <see cref="SocketCounters"/>, read by any thread.</summary>
    public long Unconfirmed { get; set; }

    public bool TryFinalizeCounters() => !Interlocked.Exchange(ref _countersFinal, true);

    public virtual bool Accepts(ReadOnlySpan<byte> firstPart) => true;

    public abstract UndeliveredLink Undelivered(long messages, long bytes);

    public abstract void OnLaneCapacity();
}

/// <summary><paramref name="PeerId"/>: 0 but for STREAM.</summary>
internal readonly record struct UndeliveredLink(uint PeerId, RedactedEndpoint Endpoint, string Remote, long Messages, long Bytes);

/// <summary>One message of a lease, or a notice without one.</summary>
internal readonly record struct DequeuedMessage(InboundLease Lease, int Slot, LaneOwner Link, LaneNotice Notice = LaneNotice.None);

/// <summary>What a lane says of its peer.</summary>
internal enum LaneNotice : byte
{
    None,
    Connected,
    Disconnected,
}

internal class ReceiveWaiter : Waiter<DequeuedMessage>
{
    /// <summary>Continues on the shard that has just read. It gets one turn and then waits, so the shard can do other work.</summary>
    public bool RunsSynchronously { get; set; }

    internal DequeuedMessage Given { get; set; }
}

/// <summary>
/// Consecutive one-part messages of an <see cref="InboundLease.Open"/> lease that share a state word, so that one step checks, forwards or
/// releases all.
/// </summary>
internal readonly record struct InboundRun(InboundLease Lease, int Slot, int Count, int Generation)
{
    public bool IsLive => Lease.AreLive(Slot, Count, Generation);

    public InboundRun First => this with { Count = 1 };

    public (Slab Slab, int Offset, int Length) Frames => Lease.FramesAt(Slot, Count);

    public void Release() => Lease.Release(Slot, Count, Generation);
}
