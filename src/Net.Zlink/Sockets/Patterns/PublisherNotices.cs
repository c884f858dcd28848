using System.Runtime.InteropServices;
using Net.Zlink.Buffers;
using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Sockets.Links;

namespace Net.Zlink.Sockets.Patterns;

/// <summary>What an XPUB tells its application of subscriptions, of all its peers in one line; and the order in which its peers' messages
/// are read with it.</summary>
/// <remarks>
/// One line, because of the order: that the last subscriber of a topic left and that another came must be read in the order in which it
/// happened, whichever connections it was; read the other way round, the application would take a wanted topic for an unwanted one. It is a
/// lane like any peer's, bounded like it: while it is full no connection of the socket is read.
/// Messages lie in their peers' lanes, each bounded by itself, but are announced by the same way: what one peer sent, topics and messages,
/// is read in the order in which it sent it.
/// </remarks>
internal sealed class PublisherNotices : PeerLink
{
    // Losses lie packed in memory that starts small, for the many peers with a few topics, and grows fourfold up to what the slots of one
    // lease need with topics of 15 bytes.
    private const int MinLossSlabSize = 256;
    private const int MaxLossSlabSize = 4 * 1024;

    private readonly PublisherCore _core;
    private ShortLock _dispatchLock;
    private InboundLease? _loss;
    private Slab? _lossSlab;
    private int _lossUsed;
    private int _lossSize;
    private List<(InboundLane Lane, int Messages)> _notifications = [];
    private List<(InboundLane Lane, int Messages)> _announced = [];
    private bool _isAnnouncing;

    public PublisherNotices(PublisherCore core)
        : base(core, new InboundLane(default, core.Host.Budget) { IsShared = true })
    {
        _core = core;
        Capacity = new PausedReaders(Lane);
    }

    /// <summary>The connections that are not read because notices wait.</summary>
    public PausedReaders Capacity { get; }

    public override OutboundCounts Outbound => default;

    public override bool HasCapacity => false;

    /// <summary>Notes a notice: under the lock of those who change the topics, which decides who is first and last, so that notices stand
    /// in that order. <see cref="AnnounceAll"/> has to follow, outside of it.</summary>
    public void Add(PeerLink about, ReadOnlySpan<byte> prefix, bool subscribes)
    {
        Slab slab = _core.Host.Slabs.Rent(prefix.Length + 1);
        InboundLease notice = InboundLease.Rent(slab, about.Peer);
        notice.NoticeOf = about;
        Write(notice, slab, 0, prefix, subscribes);
        Enqueue(notice);
    }

    /// <summary>As <see cref="Add"/>, for the cancel of one of the many topics that a peer leaves behind: they share leases, since a lease
    /// of each one's own, 0.8 KB and 2 us, takes seconds with a million.</summary>
    public void AddLoss(PeerLink about, ReadOnlySpan<byte> prefix)
    {
        int length = prefix.Length + 1;
        if (_loss is null || _loss.Count == InboundLease.MaxSlots || _lossSlab!.Array.Length - _lossUsed < length)
        {
            _lossSize = _loss is null ? MinLossSlabSize : Math.Min(_lossSize * 4, MaxLossSlabSize);
            EndLosses();
            _lossSlab = _core.Host.Slabs.Rent(Math.Max(_lossSize, length));
            _lossUsed = 0;
            _loss = InboundLease.Rent(_lossSlab, about.Peer);
            _loss.NoticeOf = about;
        }

        Write(_loss, _lossSlab, _lossUsed, prefix, subscribes: false);
        _lossUsed += length;
    }

    /// <summary>That was the last of them. Under the same lock.</summary>
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

    private void Enqueue(InboundLease notice)
    {
        using (_dispatchLock.EnterScope())
        {
            Lane.Enqueue(notice, out int updates);
            if (updates > 0)
            {
                _notifications.Add((Lane, updates));
            }
        }
    }

    /// <summary>Announces messages of a peer behind all that was noted before. Outside of all locks.</summary>
    public void Announce(InboundLane lane, int messages)
    {
        using (_dispatchLock.EnterScope())
        {
            _notifications.Add((lane, messages));
        }

        AnnounceAll();
    }

    /// <summary>Tells the receive queue what was noted, outside of all locks. Whoever finds somebody at it leaves it to them.</summary>
    public void AnnounceAll()
    {
        while (TryAcquireDispatch())
        {
            try
            {
                _core.Receive.Enqueue(CollectionsMarshal.AsSpan(_announced));
            }
            finally
            {
                using (_dispatchLock.EnterScope())
                {
                    _announced.Clear();
                    _isAnnouncing = false;
                }
            }
        }
    }

    private bool TryAcquireDispatch()
    {
        using (_dispatchLock.EnterScope())
        {
            if (_isAnnouncing || _notifications.Count == 0)
            {
                return false;
            }

            _isAnnouncing = true;
            (_notifications, _announced) = (_announced, _notifications);
            return true;
        }
    }

    public override FullCause FullCause => FullCause.Messages;

    public override SendStatus TrySend(in OutgoingMessage message, bool force = false) => SendStatus.Closed;

    public override void SendOwn(ZmpFlags flags, ReadOnlySpan<byte> body)
    {
    }

    /// <summary>Connections stopped on its account read on, as many as there is room for.</summary>
    public override void OnLaneCapacity() => Capacity.ResumeWaiters();

    public override void SetLimits(QueueLimits outbound, QueueLimits inbound)
    {
        Capacity.Limit = inbound.Messages;
        if (Lane.SetLimits(inbound))
        {
            OnLaneCapacity();
        }
    }

    public override void Close(DisconnectReason reason, TimeSpan linger)
    {
    }

    public override void Abort()
    {
    }
}
