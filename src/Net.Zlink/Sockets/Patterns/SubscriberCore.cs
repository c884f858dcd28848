using Net.Zlink.Buffers;
using Net.Zlink.Engine;
using Net.Zlink.Flow;
using Net.Zlink.Monitoring;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Sockets.Links;
using Net.Zlink.Sockets.Routing;

namespace Net.Zlink.Sockets.Patterns;

internal sealed class SubscriberCore(EngineHost host, bool isExtended)
    : SocketCore(host, isExtended ? ZmpSocketType.XSub : ZmpSocketType.Sub)
{
    // Beyond this many queued updates a publisher without a connection gets all topics when it connects.
    private const int MaxHistory = 1000;

    // This many updates may be queued for a connected publisher that reads none for a while: some 5 MB. Then its connection ends, because
    // queued updates cannot be withdrawn.
    private const int MaxUnreadUpdates = 100_000;

    // A publisher that reads may have this many times more: topics change by the million a second, faster than a publisher reads.
    private const int MaxUnsentUpdates = 4;
    private static readonly TimeSpan UnreadTime = TimeSpan.FromSeconds(10);
    private readonly PrefixCounts _topics = new();

    private PeerLink[]? _peers;

    // An unsubscribe before its subscribe would lower the count of other subscribers' requests at the publisher.
    private readonly HashSet<PeerLink> _toGreet = [];

    // One change of topics, or one greeting, at a time, so every publisher gets them in one order.
    private readonly Lock _order = new();

    // The last lock of the order: the receive queue checks the filter under its own lock.
    private ShortLock _topicsGate;
    private bool _wantsAll;

    public bool IsExtended => isExtended;

    public bool Inverts
    {
        get => Volatile.Read(ref field);
        set
        {
            if (value != Inverts)
            {
                Volatile.Write(ref field, value);
                OnFilterChanged();
            }
        }
    }

    public override InboundRole InboundRole => IsExtended ? InboundRole.All : InboundRole.Filtered;
    public override bool CanSend => IsExtended;

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

    public override string DescribeTopics() => TopicCount == 0 && !IsExtended ? ", no topic: it receives nothing"
        : FormattableString.Invariant($", topics: {TopicCount}");

    public override bool Accepts(ReadOnlySpan<byte> firstPart)
    {
        if (Volatile.Read(ref _wantsAll))
        {
            return !Inverts;
        }

        using (_topicsGate.EnterScope())
        {
            return _topics.Matches(firstPart) != Inverts;
        }
    }

    public void Subscribe(ReadOnlySpan<byte> prefix)
    {
        using (new InOrder(_order))
        {
            Add(prefix);
            SendToInformed(ZmpFlags.Subscribe, prefix);
        }
    }

    /// <summary>Only the last removal of a topic is sent upstream.</summary>
    public void Unsubscribe(ReadOnlySpan<byte> prefix)
    {
        using (new InOrder(_order))
        {
            if (RemoveLast(prefix))
            {
                SendToInformed(ZmpFlags.Cancel, prefix);
            }
        }
    }

    /// <summary>
    /// XSUB: a message of one part that begins with 1 or 0 changes a topic and is sent as it is, whatever the high-water mark: a refused
    /// update would never be sent again. A link that is being greeted gets it with its topics. An XPUB's notice that others have the topic
    /// is passed on without counting: behind proxies the last cancel would never go up, since AllSubscriptions tells of each subscriber but
    /// of one cancel.
    /// </summary>
    public override SendStatus Route(ReadOnlySpan<byte> routeId, in OutgoingMessage message)
    {
        UpstreamPart kind = SubscriptionParts.KindOf(message, out ReadOnlySpan<byte> prefix);
        if (kind == UpstreamPart.Data)
        {
            return Fanout.Send(this, Peers(), message);
        }

        using (new InOrder(_order))
        {
            if (IsToBeSent(kind, prefix, message.IsRepeatedNotice))
            {
                SendToInformed(ZmpFlags.None, message.FirstPart);
            }

            message.Consume();
        }

        return SendStatus.Accepted;
    }

    public override void SendWelcome(PeerLink link, GreetingOccasion occasion)
    {
        using (new InOrder(_order))
        {
            bool isFirst;
            using (Gate.EnterScope())
            {
                isFirst = _toGreet.Remove(link);
            }

            if (isFirst || occasion != GreetingOccasion.FirstConnection)
            {
                SendTopics(link);
            }
        }
    }

    /// <summary>Updates that were queued for the lost connection are obsolete, because the next one gets all topics.</summary>
    public override void OnConnectionLost(WireLink link, bool hasLasted, bool wasBrief)
    {
        using (new InOrder(_order))
        {
            ResendSubscriptions(link, link.Queue);
        }
    }

    protected override bool Attach(PeerLink link)
    {
        _peers = null;
        _toGreet.Add(link);
        return true;
    }

    protected override void Remove(PeerLink link)
    {
        _peers = null;
        _toGreet.Remove(link);
    }

    private bool IsToBeSent(UpstreamPart kind, ReadOnlySpan<byte> prefix, bool isRepeatedNotice)
    {
        if (kind == UpstreamPart.Cancel)
        {
            return !isRepeatedNotice && RemoveLast(prefix);
        }

        if (!isRepeatedNotice)
        {
            Add(prefix);
        }

        return true;
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

    private bool RemoveLast(ReadOnlySpan<byte> prefix)
    {
        bool isCovered;
        using (_topicsGate.EnterScope())
        {
            if (!_topics.RemoveLast(prefix))
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
        PeerLink[] peers = _peers ?? [.. LinksUnderLock];
        Volatile.Write(ref _peers, peers);
        return peers;
    }

    private void SendToInformed(ZmpFlags flags, ReadOnlySpan<byte> update)
    {
        PeerLink[] links;
        using (Gate.EnterScope())
        {
            links = _toGreet.Count == 0 ? PeersUnderLock() : Array.FindAll(PeersUnderLock(), link => !_toGreet.Contains(link));
        }

        foreach (PeerLink link in links)
        {
            link.SendOwn(flags, update);
            if (link.Queue is { } queue)
            {
                Bound(link, queue);
            }
        }
    }

    private void SendTopics(PeerLink link)
    {
        List<byte[]> topics;
        using (_topicsGate.EnterScope())
        {
            topics = [.. _topics.InOrder()];
        }

        foreach (byte[] topic in topics)
        {
            link.SendOwn(ZmpFlags.Subscribe, topic);
        }
    }

    private void ResendSubscriptions(PeerLink link, OutboundQueue queue)
    {
        GreetLater(link);
        queue.DropUpdates();
    }

    /// <summary>Until then no update is queued for it.</summary>
    private void GreetLater(PeerLink link)
    {
        using (Gate.EnterScope())
        {
            if (link.IsAttached)
            {
                _toGreet.Add(link);
            }
        }
    }

    /// <summary>Limits the queued updates for a publisher that does not connect or read; high-water marks do not apply to them.</summary>
    private void Bound(PeerLink link, OutboundQueue queue)
    {
        long waiting = queue.Counts.QueuedUpdates;
        if (waiting <= MaxHistory || waiting <= TopicCount)
        {
            return;
        }

        if (link.Reader is not { } connection)
        {
            ResendSubscriptions(link, queue);
        }
        else if (MaxUnreadUpdates + (2L * TopicCount) is var most && waiting > most
            && (waiting > MaxUnsentUpdates * most || connection.SinceLastWrite >= UnreadTime))
        {
            GreetLater(link);
            connection.RequestClose(DisconnectReason.TopicsUnread, CloseMode.Abort);
        }
    }

    /// <summary>Transferred memory is disposed after it, because that is the application's code.</summary>
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
