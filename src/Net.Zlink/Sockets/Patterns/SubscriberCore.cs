using Net.Zlink.Buffers;
using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Sockets.Links;
using Net.Zlink.Sockets.Routing;
using Net.Zlink.Sockets.Zmp;

namespace Net.Zlink.Sockets.Patterns;

/// <summary>SUB and XSUB: every new or returning publisher gets all topics. SUB accepts only messages that match one.</summary>
internal sealed class SubscriberCore : SocketCore
{
    // So many changes of topics may wait for a publisher that has no connection, or as many as there are topics: then it is told the topics
    // instead, as they are when it comes. As many as may wait for a native one by default.
    private const int MaxHistory = 1000;

    // So many, and twice as many as there are topics, may wait for a publisher that is connected and has read none of them for a while:
    // some 5 MB of usual names. Then its connection ends, since nothing that waits for it can be taken back.
    private const int MaxUnreadUpdates = 100_000;

    // One that reads may have so many times as much: topics change by the million a second, and a publisher that hears of them is slower
    // than that.
    private const int MaxUnsentUpdates = 4;
    private static readonly TimeSpan UnreadTime = TimeSpan.FromSeconds(10);
    private readonly PrefixCounts _topics = new();
    private readonly Distribution<PeerLink> _all = new();

    // All pipes, for as long as these are all: found without the lock. Null when that is not known.
    private PeerLink[]? _peers;

    // Pipes that are told all topics next, so they need no news until then: new ones, and those whose connection is lost. A cancel that a
    // new publisher gets before the topic was told it counts down what others asked it for.
    private readonly HashSet<PeerLink> _toGreet = [];

    // One change of topics, or one greeting, at a time: so every publisher hears them in one order. Taken before every other lock.
    private readonly Lock _order = new();

    // The topics have a lock of their own, under which none is taken: the receive queue asks under its own.
    private ShortLock _topicsGate;
    private bool _wantsAll;
    private bool _inverts;

    public SubscriberCore(EngineHost host, InprocRegistry inproc, bool isExtended)
        : base(host, inproc, isExtended ? ZmpSocketType.XSub : ZmpSocketType.Sub) => IsExtended = isExtended;

    /// <summary>XSUB.</summary>
    public bool IsExtended { get; }

    /// <summary>Takes in what does not match.</summary>
    public bool Inverts
    {
        get => Volatile.Read(ref _inverts);
        set
        {
            if (value != Inverts)
            {
                Volatile.Write(ref _inverts, value);
                OnFilterChanged();
            }
        }
    }

    public bool OnlyFirst { get; set; }
    public override bool OnlyFirstSubscribe => OnlyFirst;
    public override InboundRole InboundRole => IsExtended ? InboundRole.All : InboundRole.Filtered;
    public override bool CanSend => IsExtended;

    /// <summary>Distinct topics held.</summary>
    public int TopicCount
    {
        get
        {
            using (_topicsGate.EnterScope())
            {
                return _topics.Count;
            }
        }
    }

    public override bool Accepts(ReadOnlySpan<byte> firstPart)
    {
        if (Volatile.Read(ref _wantsAll))
        {
            return !Inverts; // The empty topic: asked for each message that comes in, it needs no lock.
        }

        using (_topicsGate.EnterScope())
        {
            return _topics.Matches(firstPart) != Inverts;
        }
    }

    /// <summary>Adds a topic; each call goes upstream.</summary>
    public void Subscribe(ReadOnlySpan<byte> prefix)
    {
        using (new InOrder(_order))
        {
            Add(prefix);
            PeerLink[] links;
            using (Gate.EnterScope())
            {
                links = InformedPeers();
            }

            SendAllSubscriptions(links, ZmpFlags.Subscribe, prefix);
        }
    }

    /// <summary>Takes a topic away; what goes upstream is only the last of a topic's.</summary>
    public void Unsubscribe(ReadOnlySpan<byte> prefix)
    {
        using (new InOrder(_order))
        {
            if (!RemoveLast(prefix))
            {
                return;
            }

            PeerLink[] links;
            using (Gate.EnterScope())
            {
                links = InformedPeers();
            }

            SendAllSubscriptions(links, ZmpFlags.Cancel, prefix);
        }
    }

    /// <summary>XSUB: what begins with 1 or 0 changes the topics, and travels as it is; the rest are messages to all publishers.</summary>
    /// <remarks>A message without topics needs no turn among them: whoever sends both, on one thread, has told every publisher of the one
    /// before it sends the other. A pipe that is being greeted meanwhile may get it between two of its topics, as it may before the first:
    /// it takes messages from the moment on that it is attached.</remarks>
    public override SendStatus Route(ReadOnlySpan<byte> routeId, in OutgoingMessage message)
    {
        bool onlyFirst = OnlyFirst; // One answer for both looks.
        if (InprocUpstream.Inspect(message, onlyFirst).Topics)
        {
            RouteTopics(message, onlyFirst);
        }
        else
        {
            Fanout.Send(this, Peers(), message);
        }

        return SendStatus.Accepted;
    }

    public override void SendWelcome(PeerLink link, GreetingOccasion occasion)
    {
        using (new InOrder(_order))
        {
            bool isOwed;
            using (Gate.EnterScope())
            {
                isOwed = _toGreet.Remove(link);
            }

            if (isOwed || occasion != GreetingOccasion.FirstConnection)
            {
                SendTopics(link);
            }
        }
    }

    /// <summary>News of topics that waited for the lost connection is obsolete: the next one is told all topics anew. An XSUB's messages
    /// stay.</summary>
    public override void OnConnectionLost(WireLink link, ZmpSession session)
    {
        using (new InOrder(_order))
        {
            ResendSubscriptions(link);
        }
    }

    protected override bool Attach(PeerLink link)
    {
        _peers = null;
        link.PatternState = _all.Add(link);
        _toGreet.Add(link);
        return true;
    }

    protected override void Remove(PeerLink link)
    {
        if (link.PatternState is DistributionSlot slot)
        {
            link.PatternState = null;
            _peers = null;
            _all.Remove(slot);
        }

        _toGreet.Remove(link);
    }

    /// <summary>A message that changes topics, be it among other parts.</summary>
    private void RouteTopics(in OutgoingMessage message, bool onlyFirst)
    {
        using (new InOrder(_order))
        {
            int parts = message.PartCount;
            bool isOnlyUpdates = true;
            bool isUpdate = false;
            List<int> topics = [];
            List<int>? notYetSent = null;
            // A message comes whole: nothing is kept from one to the next, also of one whose memory cannot be read to its end.
            SubscriptionParts upstream = default;
            PartCursor at = default;
            for (int i = 0; i < parts; i++)
            {
                UpstreamPart kind = upstream.Next(UpstreamPart.Data, message.NextPart(ref at), i < parts - 1, onlyFirst,
                    out ReadOnlySpan<byte> prefix);
                if (kind is UpstreamPart.Subscribe or UpstreamPart.Cancel)
                {
                    topics.Add(i);
                }

                if (kind == UpstreamPart.Subscribe)
                {
                    Add(prefix);
                    isUpdate = true;
                }
                else if (kind == UpstreamPart.Cancel)
                {
                    if (RemoveLast(prefix))
                    {
                        isUpdate = true;
                    }
                    else
                    {
                        (notYetSent ??= []).Add(i);
                    }
                }
                else
                {
                    isOnlyUpdates = false;
                }
            }

            PeerLink[] links;
            PeerLink[] toGreet;
            using (Gate.EnterScope())
            {
                links = InformedPeers();
                toGreet = isOnlyUpdates || _toGreet.Count == 0 ? [] : Array.FindAll(PeersUnderLock(), _toGreet.Contains);
            }

            if (isOnlyUpdates && (!isUpdate || links.Length == 0))
            {
                message.Consume(); // Nobody needs to know, or whoever comes will be told.
            }
            else if (notYetSent is null && toGreet.Length == 0)
            {
                SendUpdate(message, links, isOnlyUpdates);
            }
            else
            {
                SendInParts(message, notYetSent ?? [], links, isOnlyUpdates, topics, toGreet);
            }
        }
    }

    /// <summary>A message with topics in it to those that have been told of the topics before, as it is.</summary>
    private void SendUpdate(in OutgoingMessage message, PeerLink[] links, bool isOnlyUpdates)
    {
        if (!isOnlyUpdates || message.EncodedLength > Array.MaxLength || Array.TrueForAll(links, static link => link is not WireLink))
        {
            // Forced as a SUB's topics are: one that a mark kept back would never be told.
            Fanout.Send(this, links, message, isOnlyUpdates);
            return;
        }

        int length = (int)message.EncodedLength;
        byte[] encoded = Host.Pool.RentArray(length);
        try
        {
            message.WriteTo(encoded);
            foreach (PeerLink link in links)
            {
                if (link is WireLink wire)
                {
                    wire.SendSubscriptionUpdates(encoded.AsSpan(0, length));
                    Bound(wire);
                }
            }
        }
        finally
        {
            Host.Pool.ReturnArray(encoded);
        }

        PeerLink[] within = Array.FindAll(links, static link => link is not WireLink);
        if (within.Length == 0)
        {
            message.Consume();
        }
        else
        {
            Fanout.Send(this, within, message, force: true);
        }
    }

    /// <summary>As <see cref="SendUpdate"/>, without the cancels that are no topic's last, by each of which a publisher would count down
    /// what others of us still ask for; and what is no topic in it also to those that are told of all topics next.</summary>
    private void SendInParts(in OutgoingMessage message, List<int> notYetSent, PeerLink[] links, bool isOnlyUpdates, List<int> topics,
        PeerLink[] toGreet)
    {
        InboundLease whole = message.MoveToLease(Host.Slabs);
        try
        {
            if (toGreet.Length > 0)
            {
                SendRemainingUpdates(whole, topics, toGreet, isOnlyUpdates: false);
            }

            if (links.Length > 0)
            {
                SendRemainingUpdates(whole, notYetSent, links, isOnlyUpdates);
            }
        }
        finally
        {
            whole.Release(0, whole.GenerationOf(0));
        }
    }

    /// <summary>A message without some of its parts, of which at least one is left. They go by reference.</summary>
    private void SendRemainingUpdates(InboundLease whole, List<int> leftOut, PeerLink[] links, bool isOnlyUpdates)
    {
        InboundLease rest = InboundLease.Rent(slab: null, source: null);
        for (int i = 0; i < whole.Count; i++)
        {
            if (leftOut.BinarySearch(i) < 0)
            {
                (Slab slab, int offset, int length) = whole.OffsetOf(i);
                slab.AddReference();
                rest.AddPart(slab, offset, length);
            }
        }

        rest.EndMessage();
        SendUpdate(new OutgoingMessage(rest, 0), links, isOnlyUpdates);
        rest.Release(0, rest.GenerationOf(0));
    }

    private void Add(ReadOnlySpan<byte> prefix)
    {
        bool isUpdate;
        using (_topicsGate.EnterScope())
        {
            isUpdate = !_topics.Matches(prefix);
            _topics.Add(prefix);
            Volatile.Write(ref _wantsAll, _topics.Matches([]));
        }

        if (isUpdate && Inverts && !IsExtended)
        {
            OnFilterChanged();
        }
    }

    /// <summary>True if nobody asks for it any more.</summary>
    private bool RemoveLast(ReadOnlySpan<byte> prefix)
    {
        bool isCovered;
        using (_topicsGate.EnterScope())
        {
            if (!_topics.Remove(prefix, out int left) || left > 0)
            {
                return false;
            }

            isCovered = _topics.Matches(prefix);
            Volatile.Write(ref _wantsAll, _topics.Matches([]));
        }

        if (!isCovered && !Inverts && !IsExtended)
        {
            OnFilterChanged();
        }

        return true;
    }

    /// <summary>All pipes.</summary>
    private PeerLink[] Peers()
    {
        if (Volatile.Read(ref _peers) is { } peers)
        {
            return peers;
        }

        using (Gate.EnterScope())
        {
            return PeersUnderLock();
        }
    }

    private PeerLink[] PeersUnderLock()
    {
        PeerLink[] peers = _peers ?? [.. _all.Peers];
        Volatile.Write(ref _peers, peers);
        return peers;
    }

    /// <summary>The pipes that a change of topics is told to. Under the lock.</summary>
    private PeerLink[] InformedPeers() => _toGreet.Count == 0 ? PeersUnderLock()
        : Array.FindAll(PeersUnderLock(), link => !_toGreet.Contains(link));

    private void SendAllSubscriptions(PeerLink[] links, ZmpFlags flags, ReadOnlySpan<byte> prefix)
    {
        foreach (PeerLink link in links)
        {
            link.SendOwn(flags, prefix);
            if (link is WireLink wire)
            {
                Bound(wire);
            }
        }
    }

    /// <summary>All topics as they are.</summary>
    private void SendTopics(PeerLink link)
    {
        List<byte[]> topics = [];
        using (_topicsGate.EnterScope())
        {
            foreach (ReadOnlySpan<byte> topic in _topics)
            {
                topics.Add(topic.ToArray());
            }
        }

        foreach (byte[] topic in topics)
        {
            link.SendOwn(ZmpFlags.Subscribe, topic);
        }
    }

    /// <summary>What the pipe has not been told yet it is not told any more, but all topics as they are when its next connection is
    /// ready.</summary>
    private void ResendSubscriptions(WireLink link)
    {
        QueueUpdate(link);
        link.Queue.DropQueued(onlyUpdates: true);
    }

    /// <summary>The pipe is told no changes any more until it is greeted again.</summary>
    private void QueueUpdate(WireLink link)
    {
        using (Gate.EnterScope())
        {
            if (link.IsAttached)
            {
                _toGreet.Add(link);
            }
        }
    }

    /// <summary>Changes of topics are told whatever the marks say; so that they do not pile up for a publisher that does not come, or does
    /// not read, there is an end to them.</summary>
    private void Bound(WireLink link)
    {
        long waiting = link.Queue.Counts.QueuedUpdates;
        if (waiting <= MaxHistory || waiting <= TopicCount)
        {
            return;
        }

        if (link.Session is not { } session)
        {
            ResendSubscriptions(link); // One that becomes ready in this moment is greeted behind this, if it is owed that: in order.
        }
        else if (MaxUnreadUpdates + (2L * TopicCount) is var most && waiting > most
            && (waiting > MaxUnsentUpdates * most || session.Connection.SinceLastWrite >= UnreadTime))
        {
            QueueUpdate(link); // From here on: until its shard ends it thousands more could come.
            session.Connection.RequestClose(DisconnectReason.TopicsUnread, CloseMode.Abort);
        }
    }

    /// <summary>The lock, held until it is disposed. Memory that is let go of meanwhile, be it another socket's whose sends go on, is
    /// disposed behind it: that is the application's code.</summary>
    private readonly ref struct InOrder
    {
        private readonly Lock.Scope _scope;

        public InOrder(Lock order)
        {
            _scope = order.EnterScope();
            DeferredDisposal.Defer();
        }

        public void Dispose()
        {
            _scope.Dispose();
            DeferredDisposal.DisposeDeferred();
        }
    }
}
