using Net.Zlink.Buffers;
using Net.Zlink.Engine;
using Net.Zlink.Sockets.Links;

namespace Net.Zlink.Sockets.Patterns;

/// <summary>
/// One lane keeps the order. If "last subscriber left" and "new subscriber" of a topic changed places, the application would take a wanted
/// topic for an unwanted one. The lane has limits like a peer's: while it is full, no connection of the socket is read.
/// </summary>
internal sealed class PublisherNotices : LaneOwner
{
    private const int LossSlabSize = 1024;

    private readonly PublisherCore _core;
    private InboundLease? _loss;
    private Slab? _lossSlab;
    private int _lossUsed;
    private bool _isClosed;

    public PublisherNotices(PublisherCore core)
    {
        _core = core;
        Lane = new InboundLane(default, core.Host.Queued) { IsShared = true };
        Lane.BelongTo(this);
        PausedReaders = new PausedReaders(() => Lane.FreeReads);
    }

    public InboundLane Lane { get; }

    public PausedReaders PausedReaders { get; }

    public override Connection? Reader => null;

    public override QueueCounts Outbound => default;

    public override QueueCounts Inbound => Lane.Counts;

    public override bool IsInArrivalOrder => true;

    /// <summary>Adds a notice under the lock for topic changes, so notices have the order of the changes.</summary>
    public void Add(PeerLink about, ReadOnlySpan<byte> prefix, bool subscribes, bool isRepeat)
    {
        Slab slab = _core.Host.Slabs.Rent(prefix.Length + 1);
        InboundLease notice = InboundLease.RentForOne(slab, about.Peer);
        notice.NoticeOf = about;
        notice.IsRepeatedNotice = isRepeat;
        Write(notice, slab, 0, prefix, subscribes);
        Enqueue(notice);
    }

    /// <summary>Lost topics share leases: a lease each (0.8 KB and 2 us) takes seconds for a million.</summary>
    public void AddLoss(PeerLink about, ReadOnlySpan<byte> prefix, bool isRepeat)
    {
        int length = prefix.Length + 1;
        if (_loss is null || _loss.IsRepeatedNotice != isRepeat
            || _loss.Count == InboundLease.MaxSlots || _lossSlab!.Array.Length - _lossUsed < length)
        {
            EndLosses();
            _lossSlab = _core.Host.Slabs.Rent(Math.Max(LossSlabSize, length));
            _lossUsed = 0;
            _loss = InboundLease.Rent(_lossSlab, about.Peer);
            _loss.NoticeOf = about;
            _loss.IsRepeatedNotice = isRepeat;
        }

        Write(_loss, _lossSlab, _lossUsed, prefix, subscribes: false);
        _lossUsed += length;
    }

    public void EndLosses()
    {
        if (_loss is { } losses)
        {
            _loss = null;
            _lossSlab = null;
            Enqueue(losses);
        }
    }

    private static void Write(InboundLease lease, Slab slab, int offset, ReadOnlySpan<byte> prefix, bool subscribes)
    {
        slab.Array[offset] = (byte)(subscribes ? 1 : 0);
        prefix.CopyTo(slab.Array.AsSpan(offset + 1));
        lease.AddPart(offset, prefix.Length + 1);
        lease.EndMessage();
    }

    /// <summary>Placed under the lock: what the same peer sends behind it must not come before it.</summary>
    private void Enqueue(InboundLease notice)
    {
        Lane.Enqueue(notice, out int updates);
        if (updates > 0 && !_core.Receive.Place(Lane, updates))
        {
            Volatile.Write(ref _isClosed, true);
        }
    }

    /// <summary>Outside of the lock.</summary>
    public void AnnounceAll()
    {
        if (Volatile.Read(ref _isClosed))
        {
            _core.Receive.Drop(Lane);
        }
        else
        {
            _core.Receive.DispatchPlaced();
        }
    }

    public override UndeliveredLink Undelivered(long messages, long bytes) => default;

    public override void OnLaneCapacity() => PausedReaders.ResumeWaiters();

    public void SetLimits(QueueLimits limits)
    {
        if (Lane.SetLimits(limits))
        {
            OnLaneCapacity();
        }
    }
}
