using Net.Zlink.Flow;
using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Sockets.Links;
using Net.Zlink.Sockets.Zmp;

namespace Net.Zlink.Sockets;

/// <summary>
/// The core of one ZMP socket: its links, receive queue, endpoints and counters. Subclasses have the rules of each socket type.
/// </summary>
/// <remarks>
/// Thread-safe. <see cref="Gate"/> guards what concerns several links: routing, subscriptions, the set of links. It protects pointer work
/// only, and no other socket's lock is taken under it. Order of locks: docs/architecture.md.
/// </remarks>
internal abstract class SocketCore
{
    private readonly HashSet<PeerLink> _links = [];
    private readonly CloseTracker _parts = new();
    private ShortLock _gate;
    private WireLink? _only;
    private bool _isClosed; // A copy of the tracker's state: the tracker's cache line is written often, and each send would read it.
    private int _filterVersion;

    protected SocketCore(EngineHost host, InprocRegistry inproc, ZmpSocketType type)
    {
        Host = host;
        Type = type;
        Receive = new ReceiveQueue(isInArrivalOrder: type == ZmpSocketType.XPub);
        BlockedSends = new BlockedSendQueue(this);
        Endpoints = new SocketEndpoints(this, inproc);
        Events = new SessionEvents(this);
        Sessions = new SessionLife(this);
        Claims = new PlaceClaims(this);
    }

    public EngineHost Host { get; }

    public ZmpSocketType Type { get; }

    public ReceiveQueue Receive { get; }

    public BlockedSendQueue BlockedSends { get; }

    public SocketMonitors Monitors { get; } = new();

    public SocketCounters Counters { get; } = new();

    public SocketEndpoints Endpoints { get; }

    public GivenUpEndpoints GivenUp { get; } = new();

    public SessionEvents Events { get; }

    public PlaceClaims Claims { get; }

    public SessionLife Sessions { get; }

    /// <summary>How received messages are treated.</summary>
    public virtual InboundRole InboundRole => InboundRole.All;

    /// <summary>The value of the option with that name, for socket types with subscribers.</summary>
    public virtual bool OnlyFirstSubscribe => false;

    /// <summary>Each new link is sent an empty message first (DEALER, ROUTER).</summary>
    public bool ProbesRouter { get; set; }

    public abstract bool CanSend { get; }

    /// <summary>Notified outside of all locks when a send may succeed, or when the socket is closed.</summary>
    public ReadinessWatchers WritableWatchers { get; } = new();

    /// <summary>Completes when the socket is closed and the last connection has ended.</summary>
    public Task AllClosed => _parts.AllClosed;

    public bool IsClosed => Volatile.Read(ref _isClosed);

    /// <summary>Why and how the socket ended. Valid after the close.</summary>
    public SocketEnd End { get; private set; }

    protected ref ShortLock Gate => ref _gate;

    /// <summary>Sends by the rule of the socket type, without waiting.</summary>
    /// <param name="routeId">The peer, for ROUTER. Other types ignore it.</param>
    /// <param name="message">The message.</param>
    public abstract SendStatus Route(ReadOnlySpan<byte> routeId, in OutgoingMessage message);

    /// <summary>Sends without waiting, unless an earlier send waits.</summary>
    public SendStatus TrySend(ReadOnlySpan<byte> routeId, in OutgoingMessage message) =>
        IsClosed ? End.Outcome : BlockedSends.HasEarlierWaiter(routeId) ? SendStatus.Full : Route(routeId, message);

    /// <summary>Sends short messages of one part at once, as many of the first ones as can be; the others are for
    /// <see cref="TrySend"/>.</summary>
    public int TrySendMany(ReadOnlySpan<byte> routeId, ReadOnlySpan<ReadOnlyMemory<byte>> payloads) =>
        IsClosed || BlockedSends.HasEarlierWaiter(routeId) ? 0 : RouteMany(routeId, payloads);

    /// <summary>As <see cref="Route"/>, of several at once; 0 where the type has no such way.</summary>
    protected virtual int RouteMany(ReadOnlySpan<byte> routeId, ReadOnlySpan<ReadOnlyMemory<byte>> payloads) => 0;

    /// <summary>Sends to one connection of a ROUTER without waiting, and never drops.</summary>
    public virtual SendStatus RouteTo(PeerSlot connection, in OutgoingMessage message) => SendStatus.Unroutable;

    /// <summary>As <see cref="RouteTo"/>, unless an earlier send waits.</summary>
    public SendStatus TrySendTo(PeerSlot connection, in OutgoingMessage message) =>
        IsClosed ? End.Outcome : BlockedSends.HasEarlierWaiter(connection) ? SendStatus.Full : RouteTo(connection, message);

    /// <summary>Whether a SUB accepts a message that begins with this part. Thread-safe; takes only the last lock of the order.</summary>
    public virtual bool Accepts(ReadOnlySpan<byte> firstPart) => true;

    /// <summary>Grows when a SUB's filter becomes narrower. Read it before <see cref="Accepts"/> and store it with the message.</summary>
    /// <remarks>
    /// It is not in the receive queue: beside fields that consumers write for each message, each inproc send paid 15 ns for this read.
    /// </remarks>
    public int FilterVersion => Volatile.Read(ref _filterVersion);

    /// <summary>A peer subscribes or unsubscribes (PUB, XPUB).</summary>
    /// <param name="link">The peer.</param>
    /// <param name="prefix">The topic.</param>
    /// <param name="subscribes">True to add it.</param>
    /// <param name="notifies">The application gets its notice as a message of its own. False: the caller sends it.</param>
    public virtual SubscriptionOutcome OnSubscription(PeerLink link, ReadOnlySpan<byte> prefix, bool subscribes, bool notifies = true) =>
        SubscriptionOutcome.Silent;

    /// <summary>A ROUTER has a peer with that routing id.</summary>
    public virtual bool Knows(ReadOnlySpan<byte> routeId) => false;

    /// <summary>A lane has messages that the receive queue does not know yet. Outside of all locks.</summary>
    public virtual void Announce(InboundLane lane, int messages) => Receive.Enqueue(lane, messages);

    /// <summary>The filter became narrower: from now on received messages are checked again.</summary>
    protected void OnFilterChanged() => Receive.OnFilterChanged(ref _filterVersion);

    /// <summary>
    /// Whether a link's connection may read, as far as the whole socket is concerned. If not, the socket resumes it later. On its shard.
    /// </summary>
    public virtual bool MayRead(WireLink link) => true;

    /// <summary>A message is about to be passed to the application.</summary>
    public virtual void OnDequeued(in DequeuedMessage dequeued)
    {
    }

    /// <summary>A link that had refused a message has capacity.</summary>
    public void OnCapacity(PeerLink link)
    {
        byte[]? routeId;
        using (Gate.EnterScope())
        {
            routeId = link.RouteId;
            if (link.IsAttached)
            {
                OnWritable(link);
            }
        }

        OnMaySend(routeId, link.Peer.Slot);
    }

    /// <summary>Attaches a link if the socket type accepts it. Outside of all locks.</summary>
    /// <param name="link">The link.</param>
    /// <param name="peer">The peer, or null before a handshake.</param>
    /// <returns>False: rejected.</returns>
    public bool TryAttach(PeerLink link, PeerIdentity? peer) => TryAttach(link, peer, mayEnter: true);

    /// <summary>Sets the peer of an attached link. A link that was detached meanwhile stays detached. Outside of all locks.</summary>
    /// <returns>False: rejected.</returns>
    public bool TryIdentify(PeerLink link, PeerIdentity peer) => TryAttach(link, peer, mayEnter: false);

    private bool TryAttach(PeerLink link, PeerIdentity? peer, bool mayEnter)
    {
        PeerLink? loser;
        byte[]? routeId;
        bool hasPlace;
        PlaceQuestion question = default;
        using (Gate.EnterScope())
        {
            hasPlace = AttachUnderLock(link, peer, mayEnter, out loser);
            routeId = link.RouteId;
            if (!hasPlace && !_isClosed && peer is not null && link is WireLink { Accepted: { } newcomer }
                && HolderFor(peer) is { Accepted: not null } holder && PlaceClaims.MayWait(holder, peer))
            {
                question = Claims.Add(holder, newcomer);
            }
        }

        if (!hasPlace)
        {
            Claims.Ask(question);
            return false;
        }

        if (loser is not null)
        {
            DisplacePeer(loser);
        }

        OnMaySend(routeId, link.Peer.Slot);
        return true;
    }

    private bool AttachUnderLock(PeerLink link, PeerIdentity? peer, bool mayEnter, out PeerLink? loser)
    {
        loser = null;
        if (!link.IsAttached && !mayEnter)
        {
            return true;
        }

        if (_isClosed || (!link.IsAttached && !Attach(link)))
        {
            return false;
        }

        if (!link.IsAttached)
        {
            link.IsAttached = true;
            _links.Add(link);
            Counters.Open(link);
            FindOnly();
        }

        if (peer is null)
        {
            return true;
        }

        if (!ReferenceEquals(link.Peer.Slot, peer.Slot))
        {
            link.Peer.Slot.Pipe = null; // It belongs to the last connection.
        }

        link.Peer = peer;
        if (!Identify(link, peer, out loser))
        {
            if (link is not WireLink { Dialer: not null })
            {
                Leave(link);
            }

            return false;
        }

        peer.Slot.Pipe = link;
        Receive.Follow(link.Lane, link.Peer.RoutingId);
        return true;
    }

    public bool Has(PeerLink link)
    {
        using (Gate.EnterScope())
        {
            return link.IsAttached;
        }
    }

    /// <summary>Detaches a link. Its unread messages stay readable, unless they are dropped.</summary>
    public void Detach(PeerLink link, bool dropUnread)
    {
        byte[]? routeId;
        using (Gate.EnterScope())
        {
            routeId = link.RouteId;
            Receive.End(link.Lane, link.Peer.RoutingId); // While the peer is still attached: its next connection must find it.
            Leave(link);
        }

        if (dropUnread)
        {
            Receive.Drop(link.Lane);
        }

        OnDetached(link);
        if (link is WireLink holder)
        {
            Claims.OnLeft(holder);
        }

        if (link is InprocLink { IsActive: true } connecter)
        {
            Endpoints.Forget(connecter);
        }

        // A send that waited for this link may proceed: to other peers, or to none.
        OnMaySend(routeId, link.Peer.Slot);
    }

    /// <summary>Disconnects a peer: its unread messages are dropped, and queued messages are sent within the linger time.</summary>
    /// <returns>False: it has disconnected, or another peer has its link.</returns>
    public bool DisconnectPeer(PeerLink link, PeerIdentity peer, TimeSpan linger)
    {
        if (!Has(link) || !link.Peer.IsOfSameConnection(peer))
        {
            return false;
        }

        Detach(link, dropUnread: true);
        // A session that is just being stored then sees that its link is detached.
        link.Close(DisconnectReason.Local, linger);
        return true;
    }

    /// <summary>A link sends and receives nothing more: its counts are added to the socket's.</summary>
    public void FinalizeCounters(PeerLink link)
    {
        if (Counters.TryFinalize(link, out OutboundCounts dropped) && dropped.MissedMessages > 0)
        {
            Events.NotWritten(link, dropped);
        }
    }

    /// <summary>Enqueues the probe message, the first on a new link. Before another thread can send on it.</summary>
    public void Introduce(PeerLink link)
    {
        if (ProbesRouter)
        {
            link.SendOwn(ZmpFlags.None, []);
        }
    }

    /// <summary>Sends the socket's own greeting to an attached peer: topics, a welcome message. Outside of the socket's lock.</summary>
    public virtual void SendWelcome(PeerLink link, GreetingOccasion occasion)
    {
    }

    /// <summary>A connecting link has lost its connection and stays.</summary>
    public virtual void OnConnectionLost(WireLink link, ZmpSession session)
    {
    }

    /// <summary>Reads from the only peer on the calling thread. With several peers it would favour one.</summary>
    public void ReadAhead() => Volatile.Read(ref _only)?.Session?.Connection.TryReadAhead();

    /// <summary>All links, also those without a connection.</summary>
    public int LinkCount
    {
        get
        {
            using (Gate.EnterScope())
            {
                return _links.Count;
            }
        }
    }

    /// <summary>All links, also those without a connection.</summary>
    public PeerLink[] Links
    {
        get
        {
            using (Gate.EnterScope())
            {
                return [.. _links];
            }
        }
    }

    /// <inheritdoc cref="CloseTracker.TryEnter"/>
    public bool Enter() => _parts.TryEnter();

    /// <inheritdoc cref="CloseTracker.Reenter"/>
    public void EnterAgain() => _parts.Reenter();

    /// <inheritdoc cref="CloseTracker.Leave"/>
    public void Leave() => _parts.Leave();

    /// <summary>
    /// Stops accepting and receiving, and ends every link within the linger time. Returns at once; <see cref="AllClosed"/> completes later.
    /// </summary>
    public void Close(DisconnectReason reason, TimeSpan linger, SocketEnd end)
    {
        using (Gate.EnterScope())
        {
            if (_isClosed)
            {
                return;
            }

            End = end;
            Volatile.Write(ref _isClosed, true); // After the reason is set: a reader of the flag may read the reason.
            _parts.TryClose();
        }

        Endpoints.Close(linger);
        BlockedSends.Close(end.Outcome);
        Receive.Close(end.Error);
        foreach (PeerLink link in Links)
        {
            Detach(link, dropUnread: true);
            link.Close(reason, linger);
        }

        Endpoints.CloseSessions(reason, linger);
        Monitors.Stop();
        WritableWatchers.NotifyFenced();
        _parts.Leave(); // The part of this call.
    }

    public void Abort() => Endpoints.Abort();

    /// <summary>Why a peer is rejected, for events and logs.</summary>
    public virtual string RefusalReason(PeerIdentity? peer) => "the socket has no place for this peer";

    /// <summary>
    /// As <see cref="Introduce"/>. The binder's end of an inproc pair was introduced earlier, because it notifies another socket.
    /// </summary>
    protected void IntroduceUnderLock(PeerLink link)
    {
        if (link is not InprocLink { IsActive: false })
        {
            Introduce(link);
        }
    }

    /// <summary>Adds a new link to the routing. Under the lock. False: rejected.</summary>
    protected abstract bool Attach(PeerLink link);

    /// <summary>The holder of the newcomer's place, if a silent one loses it; else null. Under the lock.</summary>
    protected virtual WireLink? HolderFor(PeerIdentity newcomer) => null;

    /// <summary>Removes a link from the routing. Under the lock.</summary>
    protected abstract void Remove(PeerLink link);

    /// <summary>
    /// The handshake has named the peer. Under the lock. False: it is rejected. <paramref name="loser"/> is displaced by it.
    /// </summary>
    protected virtual bool Identify(PeerLink link, PeerIdentity peer, out PeerLink? loser)
    {
        loser = null;
        return true;
    }

    /// <summary>A full link has capacity. Under the lock.</summary>
    protected virtual void OnWritable(PeerLink link)
    {
    }

    /// <summary>After a link was detached, outside of the lock.</summary>
    protected virtual void OnDetached(PeerLink link)
    {
    }

    /// <summary>Another peer took this one's routing id: it is disconnected and must not reconnect.</summary>
    protected virtual void DisplacePeer(PeerLink link)
    {
    }

    protected void Leave(PeerLink link)
    {
        if (link.IsAttached)
        {
            link.IsAttached = false;
            link.Peer.Slot.Pipe = null;
            _links.RemoveAndTrim(link);
            FindOnly();
            Remove(link);
        }
    }

    /// <summary>A link has capacity, was attached or was detached.</summary>
    protected void OnMaySend(byte[]? routeId, PeerSlot? connection = null)
    {
        BlockedSends.Retry(routeId, connection);
        WritableWatchers.Notify(); // After the full fence that the retry begins with.
    }

    private void FindOnly() => Volatile.Write(ref _only, _links.Count == 1 ? _links.First() as WireLink : null);
}
