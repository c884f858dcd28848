using Net.Zlink.Engine;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Sockets.Pipes;
using Net.Zlink.Sockets.Routing;
using Net.Zlink.Sockets.Zmp;

namespace Net.Zlink.Sockets.Patterns;

/// <summary>PUB and XPUB: a message goes to every peer that has subscribed a prefix of its first part; XPUB also hands subscriptions, and what else peers send, to the application.</summary>
internal sealed class PublisherCore : SocketCore
{
    // 1,600 usual ones. Who sets ReceiveByteLimit to some 10 KB wants little to wait, not that a subscriber of 50 topics is thrown out; and all of them together have a limit of their own.
    private const long LeastTopicBytes = 1024 * 1024;

    private readonly SubscriptionTrie<Pipe> _subscriptions = new();
    private readonly Distribution<Pipe> _all = new();
    private readonly List<Subscriber<Pipe>> _matches = [];
    private readonly PublisherNotices? _told;
    private Pipe[] _targets = new Pipe[16];
    private SubscriptionNotices _notices;
    private Pipe? _lastNotice;
    private Pipe? _onlyNext;
    private int _leaving; // Here, and not beside the lock that each subscription takes: each message looks at it.

    // All peers, where each of them subscribes to everything: the match is then the same for every message, and found without the lock. Null when it is not so, or not known.
    private Pipe[]? _everyone;

    public PublisherCore(EngineHost host, InprocRegistry inproc, bool isExtended)
        : base(host, inproc, isExtended ? ZmpSocketType.XPub : ZmpSocketType.Pub)
    {
        IsExtended = isExtended;
        Departures = new Departures(this);
        if (isExtended)
        {
            _told = new PublisherNotices(this) { Endpoint = "", IsActive = false };
            _told.Lane.BelongTo(_told);
            Books.Open(_told); // The application receives them like messages: they are counted like these.
        }
    }

    /// <summary>XPUB.</summary>
    public bool IsExtended { get; }

    /// <summary>What the application of an XPUB reads of subscriptions.</summary>
    public PublisherNotices? Told => _told;

    /// <summary>Subscribers that have left, and the lock of those who change the table of topics.</summary>
    public Departures Departures { get; }

    /// <summary>How many have left whose topics are not all out. Without the lock: a moment ago.</summary>
    public int LeavingCount => Volatile.Read(ref _leaving);

    /// <summary>The socket's lock, for those who change the table of topics.</summary>
    public ref ShortLock TableGate => ref Gate;

    /// <summary>Nothing is sent to anyone while a matching peer is full.</summary>
    public bool NeverDrops { get; set; }

    /// <summary>Messages go to the peers that do not match.</summary>
    public bool Inverts { get; set; }

    /// <summary>The first message after a notice goes to that peer alone. To be followed by <see cref="Notices"/>.</summary>
    public bool ManualLastValue { get; set; }

    public bool OnlyFirst { get; set; }

    /// <summary>Sent to every new peer first; empty: nothing.</summary>
    public byte[] Welcome { get; set; } = [];

    /// <summary>What the subscriptions of one peer that came by a wire may take up, in bytes, but for the first <see cref="LeastTopicBytes"/>; 0: any number.</summary>
    public long PeerTopicByteLimit { get; set => field = value == 0 ? 0 : Math.Max(value, LeastTopicBytes); }

    public override InboundRole InboundRole => IsExtended ? InboundRole.SubscriptionsAndData : InboundRole.Subscriptions;

    public override bool OnlyFirstSubscribe => OnlyFirst;

    public override bool CanSend => true;

    /// <summary>What the application is told.</summary>
    public SubscriptionNotices Notices
    {
        get
        {
            using (Gate.Hold())
            {
                return _notices;
            }
        }

        set
        {
            using (Gate.Hold())
            {
                _notices = value;
                FindOnlyNext();
            }
        }
    }

    /// <summary>Distinct prefixes that peers hold.</summary>
    public int TopicCount
    {
        get
        {
            using (Departures.Change())
            {
                return _subscriptions.PrefixCount;
            }
        }
    }

    public override SendStatus Route(ReadOnlySpan<byte> routeId, in OutgoingMessage message)
    {
        if (Volatile.Read(ref _everyone) is { } everyone && !Inverts && Volatile.Read(ref _onlyNext) is null && (everyone.Length == 1 || !NeverDrops))
        {
            return SendToAll(everyone, message);
        }

        Pipe[]? rented = null;
        Pipe? single = null;
        int count;

        // Of several threads that found room here, one may take what another saw: the marks are passed by a message a thread, and none is dropped.
        bool isForced;
        using (Gate.Hold())
        {
            count = Match(message.FirstPart);
            if (_onlyNext is { } only)
            {
                // One message after a notice, for its peer alone if it matches.
                bool matches = _targets.AsSpan(0, count).Contains(only);
                count = 0;
                if (matches)
                {
                    AddTarget(ref count, only);
                }
            }

            isForced = NeverDrops;
            if (isForced && !HaveRoom(count))
            {
                return SendStatus.Full;
            }

            if (_onlyNext is not null)
            {
                _onlyNext = null; // Not before the message goes out: one that is refused will be sent again.
                _lastNotice = null;
            }

            if (count == 1)
            {
                single = _targets[0];
            }
            else if (count > 1)
            {
                rented = System.Buffers.ArrayPool<Pipe>.Shared.Rent(count);
                Array.Copy(_targets, rented, count);
            }

            if (_everyone is null && !Inverts && _leaving == 0 && count > 0 && count == _all.Count && count == _subscriptions.UnfilteredCount)
            {
                Volatile.Write(ref _everyone, _targets.AsSpan(0, count).ToArray());
            }

            Array.Clear(_targets, 0, count);
        }

        if (rented is null)
        {
            Fanout.Send(this, single is null ? [] : new ReadOnlySpan<Pipe>(in single), message, isForced);
        }
        else
        {
            Fanout.Send(this, rented.AsSpan(0, count), message, isForced);
            System.Buffers.ArrayPool<Pipe>.Shared.Return(rented, clearArray: true);
        }

        return count == 0 ? SendStatus.Dropped : SendStatus.Accepted;
    }

    public override bool MayRead(WirePipe pipe) => _told is null || _told.Room.MayRead(pipe);

    /// <summary>How many notices may wait; beyond that no connection is read.</summary>
    public void SetNoticeLimits(QueueLimits limits) => _told?.SetLimits(default, limits);

    public override void Announce(InboundLane lane, int messages)
    {
        if (_told is null)
        {
            base.Announce(lane, messages);
        }
        else
        {
            _told.Announce(lane, messages);
        }
    }

    public override SubscriptionOutcome OnSubscription(Pipe pipe, ReadOnlySpan<byte> prefix, bool subscribes, bool tells = true)
    {
        SubscriptionOutcome outcome;
        using (Departures.Change())
        using (Gate.Hold())
        {
            outcome = Apply(pipe, prefix, subscribes);
            if (outcome == SubscriptionOutcome.Notify && tells)
            {
                _told?.Add(pipe, prefix, subscribes);
            }
        }

        Departures.FinishSoon();
        _told?.AnnounceAll();
        if (subscribes == Inverts || outcome >= SubscriptionOutcome.TooMany)
        {
            OnMaySend(routeId: null); // A send that waited for this peer's room need not any more.
        }

        return outcome;
    }

    public override void OnTaken(in TakenMessage taken)
    {
        if (taken.Lease.NoticeOf is Pipe asker)
        {
            using (Gate.Hold())
            {
                _lastNotice = asker.IsAttached ? asker : null;
                FindOnlyNext();
            }
        }
    }

    /// <summary>The application's answer to a notice, in manual mode.</summary>
    /// <param name="asker">Whose notice it was; null: that of the one that was read last.</param>
    /// <param name="prefix">The topic.</param>
    /// <param name="subscribes">Or cancels.</param>
    /// <param name="isManual">False: it is no manual mode, and nothing was done.</param>
    /// <returns>False if the subscriber has gone.</returns>
    public bool Grant(Pipe? asker, ReadOnlySpan<byte> prefix, bool subscribes, out bool isManual)
    {
        PublisherPlace? place;
        using (Departures.Change())
        using (Gate.Hold())
        {
            isManual = _notices.Manual;
            asker ??= _lastNotice;
            place = isManual && asker is { IsAttached: true } ? asker.Place as PublisherPlace : null;
            if (place is not null)
            {
                _everyone = null;
                if (subscribes)
                {
                    _subscriptions.Add(prefix, place.Granted, out _);
                }
                else
                {
                    _subscriptions.Remove(prefix, place.Granted);
                }
            }
        }

        if (place is not null && subscribes == Inverts)
        {
            OnMaySend(routeId: null); // As in OnSubscription.
        }

        return place is not null;
    }

    /// <summary>The topics of one that has left are out.</summary>
    public void OnOut(Subscriber<Pipe> subscriber)
    {
        using (Gate.Hold())
        {
            _subscriptions.Forget(subscriber);
            Volatile.Write(ref _leaving, _leaving - 1);
        }
    }

    public override void Greet(Pipe pipe, GreetingOccasion occasion)
    {
        if (Welcome.Length > 0 && occasion == GreetingOccasion.NewPipe)
        {
            pipe.SendOwn(ZmpFlags.None, Welcome);
        }
    }

    protected override bool Attach(Pipe pipe)
    {
        _everyone = null;
        pipe.Place = new PublisherPlace(_all.Add(pipe), _subscriptions, pipe, pipe is WirePipe ? Host.Subscriptions : null);
        return true;
    }

    protected override void Remove(Pipe pipe)
    {
        _everyone = null;
        if (ReferenceEquals(_lastNotice, pipe))
        {
            _lastNotice = null;
            _onlyNext = null;
        }

        var place = (PublisherPlace)pipe.Place!;
        pipe.Place = null;
        _all.Remove(place.Slot);
        DropTopics(place);
    }

    /// <summary>The peer has gone, or goes for having too many: an end that connected keeps its place, and would keep topics in it that nobody ever cancels.</summary>
    private void DropTopics(PublisherPlace place)
    {
        place.Share.TryHold(0);
        EnterAgain();
        Volatile.Write(ref _leaving, _leaving + 1);
        Departures.Add(place.Clear(_notices));
    }

    /// <summary>What it had subscribed to goes on when it comes again; that it waits for room does not.</summary>
    public override void OnConnectionLost(WirePipe pipe, ZmpSession session) => WaitNoMore(pipe);

    protected override void OnDetached(Pipe pipe)
    {
        if (pipe is WirePipe wire)
        {
            WaitNoMore(wire);
        }

        if (pipe is InprocPipe)
        {
            Departures.Finish(); // No shard waits for it, and whoever has ended a socket here finds its topics gone.
        }
        else
        {
            Departures.FinishSoon();
        }
    }

    private void WaitNoMore(WirePipe pipe)
    {
        _told?.Room.Leave(pipe.RoomWaiter);
        if (pipe.Session is null)
        {
            pipe.RoomWaiter = null; // Its connection asks for room no more. Notices that are unread keep the pipe, and would keep by this the connection, too.
        }
    }

    /// <summary>By the options of now, as natively: they may be set back while a notice is still unanswered. Under the lock.</summary>
    private void FindOnlyNext() => Volatile.Write(ref _onlyNext, ManualLastValue && _notices.Manual ? _lastNotice : null);

    private static SubscriptionOutcome Tell(bool notify) => notify ? SubscriptionOutcome.Notify : SubscriptionOutcome.Silent;

    private SubscriptionOutcome Apply(Pipe pipe, ReadOnlySpan<byte> prefix, bool subscribes)
    {
        if (pipe.Place is not PublisherPlace place)
        {
            return SubscriptionOutcome.Silent;
        }

        _everyone = null;

        // In manual mode what the peer asks for is remembered for the notices of its loss, and the application decides what counts.
        Subscriber<Pipe> asked = _notices.Manual ? place.Asked : place.Granted;
        SubscriptionTrie<Pipe> trie = _notices.Manual ? place.AskedTrie : _subscriptions;
        if (!subscribes)
        {
            SubscriptionRemoval removal = trie.Remove(prefix, asked);
            place.Share.TryHold(asked.HeldBytes);
            return Tell(_notices.TellsCancel(removal));
        }

        // One in this process keeps its topics in the same memory: what it subscribes is the application's own business.
        long held = asked.HeldBytes + SubscriptionTrie<Pipe>.ChargeOf(prefix.Length);
        bool isTooMany = PeerTopicByteLimit > 0 && pipe is WirePipe && held > PeerTopicByteLimit;
        if ((isTooMany || !place.Share.TryHold(held)) && !trie.Holds(prefix, asked)) // One that comes again wants no more.
        {
            DropTopics(place);
            return isTooMany ? SubscriptionOutcome.TooMany : SubscriptionOutcome.TooManyOfAll;
        }

        if (!trie.Add(prefix, asked, out bool first))
        {
            place.Share.TryHold(asked.HeldBytes); // It had it already.
        }

        return Tell(_notices.TellsSubscribe(first));
    }

    private SendStatus SendToAll(Pipe[] pipes, in OutgoingMessage message)
    {
        if (NeverDrops && pipes.Length == 1)
        {
            // One peer alone: what it refuses is nobody's yet.
            SendStatus status = pipes[0].TrySend(message);
            if (status != SendStatus.Closed)
            {
                return status;
            }
        }

        Fanout.Send(this, pipes, message);
        return SendStatus.Accepted;
    }

    /// <summary>Fills the targets; returns how many.</summary>
    private int Match(ReadOnlySpan<byte> topic)
    {
        _subscriptions.Match(topic, _matches);
        if (_leaving > 0)
        {
            _matches.RemoveAll(static match => match.HasLeft);
        }

        int count = 0;
        if (!Inverts)
        {
            foreach (Subscriber<Pipe> match in _matches)
            {
                AddTarget(ref count, match.Peer);
            }
        }
        else
        {
            foreach (Subscriber<Pipe> match in _matches)
            {
                ((PublisherPlace)match.Peer.Place!).IsMatch = true;
            }

            foreach (Pipe pipe in _all.Peers)
            {
                if (!((PublisherPlace)pipe.Place!).IsMatch)
                {
                    AddTarget(ref count, pipe);
                }
            }

            foreach (Subscriber<Pipe> match in _matches)
            {
                ((PublisherPlace)match.Peer.Place!).IsMatch = false;
            }
        }

        _matches.Clear(); // Here, not before the next message: they may have gone by then, and are to be collected.
        return count;
    }

    private bool HaveRoom(int count)
    {
        foreach (Pipe target in _targets.AsSpan(0, count))
        {
            if (!target.HasRoom)
            {
                return false;
            }
        }

        return true;
    }

    private void AddTarget(ref int count, Pipe pipe)
    {
        if (count == _targets.Length)
        {
            Array.Resize(ref _targets, count * 2);
        }

        _targets[count++] = pipe;
    }
}
