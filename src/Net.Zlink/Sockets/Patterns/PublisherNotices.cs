using System.Runtime.InteropServices;
using Net.Zlink.Buffers;
using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Sockets.Pipes;

namespace Net.Zlink.Sockets.Patterns;

/// <summary>What an XPUB tells its application of subscriptions, of all its peers in one line; and the order in which its peers' messages are read with it.</summary>
/// <remarks>
/// One line, because of the order: that the last subscriber of a topic left and that another came must be read in the order in which it happened, whichever connections it was; read the other
/// way round, the application would take a wanted topic for an unwanted one. It is a lane like any peer's, bounded like it: while it is full no connection of the socket is read.
/// Messages lie in their peers' lanes, each bounded by itself, but are announced by the same way: what one peer sent, topics and messages, is read in the order in which it sent it.
/// </remarks>
internal sealed class PublisherNotices : Pipe
{
    // Losses lie packed in memory that starts small, for the many peers with a few topics, and grows fourfold up to what the slots of one lease need with topics of 15 bytes.
    private const int SmallestLossSlab = 256;
    private const int LargestLossSlab = 4 * 1024;

    private readonly PublisherCore _core;
    private ShortLock _turn;
    private InboundLease? _loss;
    private Slab? _lossSlab;
    private int _lossUsed;
    private int _lossSize;
    private List<(InboundLane Lane, int Messages)> _news = [];
    private List<(InboundLane Lane, int Messages)> _announced = [];
    private bool _isAnnouncing;

    public PublisherNotices(PublisherCore core)
        : base(core, new InboundLane(default, core.Host.Budget) { IsShared = true })
    {
        _core = core;
        Room = new RoomLine(Lane);
    }

    /// <summary>The connections that are not read because notices wait.</summary>
    public RoomLine Room { get; }

    public override OutboundCounts Outbound => default;

    public override bool HasRoom => false;

    /// <summary>Notes a notice: under the lock of those who change the topics, which decides who is first and last, so that notices stand in that order. <see cref="AnnounceAll"/> has to follow, outside of it.</summary>
    public void Add(Pipe about, ReadOnlySpan<byte> prefix, bool subscribes)
    {
        Slab slab = _core.Host.Slabs.Rent(prefix.Length + 1);
        InboundLease notice = InboundLease.Rent(slab, about.Peer);
        notice.NoticeOf = about;
        Write(notice, slab, 0, prefix, subscribes);
        TakeIn(notice);
    }

    /// <summary>As <see cref="Add"/>, for the cancel of one of the many topics that a peer leaves behind: they share leases, since a lease of each one's own, 0.8 KB and 2 us, takes seconds with a million.</summary>
    public void AddLoss(Pipe about, ReadOnlySpan<byte> prefix)
    {
        int length = prefix.Length + 1;
        if (_loss is null || _loss.Count == InboundLease.MaxSlots || _lossSlab!.Array.Length - _lossUsed < length)
        {
            _lossSize = _loss is null ? SmallestLossSlab : Math.Min(_lossSize * 4, LargestLossSlab);
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
            TakeIn(losses);
        }
    }

    private static void Write(InboundLease lease, Slab slab, int offset, ReadOnlySpan<byte> prefix, bool subscribes)
    {
        slab.Array[offset] = (byte)(subscribes ? 1 : 0);
        prefix.CopyTo(slab.Array.AsSpan(offset + 1));
        lease.AddPart(offset, prefix.Length + 1);
        lease.EndMessage();
    }

    private void TakeIn(InboundLease notice)
    {
        using (_turn.Hold())
        {
            Lane.TakeIn(notice, out int news);
            if (news > 0)
            {
                _news.Add((Lane, news));
            }
        }
    }

    /// <summary>Announces messages of a peer behind all that was noted before. Outside of all locks.</summary>
    public void Announce(InboundLane lane, int messages)
    {
        using (_turn.Hold())
        {
            _news.Add((lane, messages));
        }

        AnnounceAll();
    }

    /// <summary>Tells the receive queue what was noted, outside of all locks. Whoever finds somebody at it leaves it to them.</summary>
    public void AnnounceAll()
    {
        while (TryTakeTurn())
        {
            try
            {
                _core.Receive.Enqueue(CollectionsMarshal.AsSpan(_announced));
            }
            finally
            {
                using (_turn.Hold())
                {
                    _announced.Clear();
                    _isAnnouncing = false;
                }
            }
        }
    }

    private bool TryTakeTurn()
    {
        using (_turn.Hold())
        {
            if (_isAnnouncing || _news.Count == 0)
            {
                return false;
            }

            _isAnnouncing = true;
            (_news, _announced) = (_announced, _news);
            return true;
        }
    }

    public override FullCause FullCause => FullCause.Messages;

    public override SendStatus TrySend(in OutgoingMessage message, bool force = false) => SendStatus.Closed;

    public override void SendOwn(ZmpFlags flags, ReadOnlySpan<byte> body)
    {
    }

    /// <summary>Connections stopped on its account read on, as many as there is room for.</summary>
    public override void OnRoomInLane() => Room.Move();

    public override void SetLimits(QueueLimits outbound, QueueLimits inbound)
    {
        Room.Mark = inbound.Messages;
        if (Lane.SetLimits(inbound))
        {
            OnRoomInLane();
        }
    }

    public override void Close(DisconnectReason reason, TimeSpan linger)
    {
    }

    public override void Abort()
    {
    }
}
