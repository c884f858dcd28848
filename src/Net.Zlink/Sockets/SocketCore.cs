using Net.Zlink.Flow;
using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Sockets.Links;
using Net.Zlink.Sockets.Zmp;

namespace Net.Zlink.Sockets;

/// <summary>The inside of one ZMP socket: its pipes, its receive queue, its endpoints and its books. What the types do differently is in
/// the classes derived from it.</summary>
/// <remarks>
/// Safe for any number of threads. <see cref="Gate"/> guards what spans pipes: routing, subscriptions, the set of pipes; it is held for
/// pointer work only, and under it no other socket's lock is taken.
/// Order of locks: the send line's, then this, then a pipe's.
/// </remarks>
internal abstract class SocketCore
{
    private readonly HashSet<PeerLink> _links = [];
    private readonly CloseTracker _parts = new();
    private ShortLock _gate;
    private WireLink? _only;
    private bool _isClosed; // As _parts says, in whose memory each send would have to look otherwise.
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

    /// <summary>What its connections tell it of themselves.</summary>
    public SessionLife Sessions { get; }

    /// <summary>What is done with what comes in.</summary>
    public virtual InboundRole InboundRole => InboundRole.All;

    /// <summary>The option of that name, where it concerns what subscribers send.</summary>
    public virtual bool OnlyFirstSubscribe => false;

    /// <summary>Each new pipe is sent an empty message first (DEALER, ROUTER).</summary>
    public bool ProbesRouter { get; set; }

    /// <summary>A send would not have to wait now.</summary>
    public abstract bool CanSend { get; }

    /// <summary>Told, outside all locks, that a send which would have had to wait may not have to any more, or that the socket is
    /// closed.</summary>
    public ReadinessWatchers WritableWatchers { get; } = new();

    /// <summary>Completes when the socket was closed and the last connection is gone.</summary>
    public Task AllClosed => _parts.AllClosed;

    public bool IsClosed => Volatile.Read(ref _isClosed);

    /// <summary>Of a closed socket.</summary>
    public SocketEnd End { get; private set; }

    /// <summary>Guards everything that spans pipes.</summary>
    protected ref ShortLock Gate => ref _gate;

    /// <summary>Sends by the socket type's rule, without waiting.</summary>
    /// <param name="routeId">The peer, for ROUTER; ignored by the others.</param>
    /// <param name="message">The message.</param>
    public abstract SendStatus Route(ReadOnlySpan<byte> routeId, in OutgoingMessage message);

    /// <summary>Sends without waiting, behind those who wait.</summary>
    public SendStatus TrySend(ReadOnlySpan<byte> routeId, in OutgoingMessage message) =>
        IsClosed ? End.Outcome : BlockedSends.HasEarlierWaiter(routeId) ? SendStatus.Full : Route(routeId, message);

    /// <summary>Sends to one connection, without waiting: never dropped, whatever the type's rule (ROUTER).</summary>
    public virtual SendStatus RouteTo(PeerSlot connection, in OutgoingMessage message) => SendStatus.Unroutable;

    /// <summary>As <see cref="RouteTo"/>, behind those who wait.</summary>
    public SendStatus TrySendTo(PeerSlot connection, in OutgoingMessage message) =>
        IsClosed ? End.Outcome : BlockedSends.HasEarlierWaiter(connection) ? SendStatus.Full : RouteTo(connection, message);

    /// <summary>Whether a message that begins with this part is for the application (SUB). Any thread; takes no lock but a last one of its
    /// own.</summary>
    public virtual bool Accepts(ReadOnlySpan<byte> firstPart) => true;

    /// <summary>How often the filter came to want less (SUB). Whoever asks <see cref="Accepts"/> for a message looks here before, and notes
    /// it with the message.</summary>
    /// <remarks>Not in the receive queue, though that is what it is for: next to what consumers write there for each message, a look by
    /// each sender in this process cost 15 ns.</remarks>
    public int FilterVersion => Volatile.Read(ref _filterVersion);

    /// <summary>A peer subscribes or cancels (PUB, XPUB).</summary>
    /// <param name="link">The peer.</param>
    /// <param name="prefix">The topic.</param>
    /// <param name="subscribes">Or cancels.</param>
    /// <param name="notifies">The application gets its notice, if one is due, as a message of its own; false: the caller sees to
    /// that.</param>
    public virtual SubscriptionOutcome OnSubscription(PeerLink link, ReadOnlySpan<byte> prefix, bool subscribes, bool notifies = true) =>
        SubscriptionOutcome.Silent;

    /// <summary>There is a peer of that routing id (ROUTER).</summary>
    public virtual bool Knows(ReadOnlySpan<byte> routeId) => false;

    /// <summary>A lane has messages that nobody has told the receive queue of. Outside of all locks.</summary>
    public virtual void Announce(InboundLane lane, int messages) => Receive.Enqueue(lane, messages);

    /// <summary>The filter wants less by now: nothing else is received from here on, also of what it let in before.</summary>
    protected void OnFilterChanged() => Receive.OnFilterChanged(ref _filterVersion);

    /// <summary>Whether a pipe's connection may read on, as far as the socket as a whole is concerned; if not, it resumes it later. On its
    /// shard.</summary>
    public virtual bool MayRead(WireLink link) => true;

    /// <summary>A message is about to be handed to the application.</summary>
    public virtual void OnDequeued(in DequeuedMessage dequeued)
    {
    }

    /// <summary>A pipe that had refused a message has room.</summary>
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

    /// <summary>Takes a pipe in, if the type has a place for it. Outside of all locks.</summary>
    /// <param name="link">The pipe.</param>
    /// <param name="peer">Who is at the other end; null before a handshake.</param>
    /// <returns>False: turned away.</returns>
    public bool TryAttach(PeerLink link, PeerIdentity? peer) => TryAttach(link, peer, mayEnter: true);

    /// <summary>Says who is at the other end of a pipe that was taken in before. One that has left meanwhile stays outside. Outside of all
    /// locks.</summary>
    /// <returns>False: turned away.</returns>
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
            link.Peer.Slot.Pipe = null; // The last connection's.
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

    /// <summary>Whether a pipe takes part in the socket's routing.</summary>
    public bool Has(PeerLink link)
    {
        using (Gate.EnterScope())
        {
            return link.IsAttached;
        }
    }

    /// <summary>A pipe is gone. What it received stays readable, unless that is to be dropped.</summary>
    public void Detach(PeerLink link, bool dropUnread)
    {
        byte[]? routeId;
        using (Gate.EnterScope())
        {
            routeId = link.RouteId;
            Receive.End(link.Lane, link.Peer.RoutingId); // While the peer has its place: its next connection sees it.
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

        // A send that waited for this one's room need not any more, be it that it goes to others only, or to nobody.
        OnMaySend(routeId, link.Peer.Slot);
    }

    /// <summary>Ends a peer that came in: it has no place from here on, and what it sent is dropped. What was sent to it goes out within
    /// the linger time.</summary>
    /// <returns>False: it has gone, be it that there is another one in its place.</returns>
    public bool DisconnectPeer(PeerLink link, PeerIdentity peer, TimeSpan linger)
    {
        if (!Has(link) || !link.Peer.IsOfSameConnection(peer))
        {
            return false;
        }

        Detach(link, dropUnread: true);
        // Where its session is about to be noted, whoever notes it sees that it has no place any more.
        link.Close(DisconnectReason.Local, linger);
        return true;
    }

    /// <summary>A pipe takes and gives nothing any more: its counts become the socket's.</summary>
    public void FinalizeCounters(PeerLink link)
    {
        if (Counters.TryFinalize(link, out OutboundCounts dropped) && dropped.MissedMessages > 0)
        {
            Events.NotWritten(link, dropped);
        }
    }

    /// <summary>Says what comes first on a new pipe, ahead of sends that wait for one: a probe. Before any thread can send on it.</summary>
    public void Introduce(PeerLink link)
    {
        if (ProbesRouter)
        {
            link.SendOwn(ZmpFlags.None, []);
        }
    }

    /// <summary>Says what the socket itself has to say to a peer that it has taken in: topics, a welcome. Outside of the socket's
    /// lock.</summary>
    public virtual void SendWelcome(PeerLink link, GreetingOccasion occasion)
    {
    }

    /// <summary>The connection of an outgoing pipe is lost; the pipe stays.</summary>
    public virtual void OnConnectionLost(WireLink link, ZmpSession session)
    {
    }

    /// <summary>Looks for what the only peer may have just sent, on the calling thread. With several peers it would favour one.</summary>
    public void ReadAhead() => Volatile.Read(ref _only)?.Session?.Connection.TryReadAhead();

    /// <summary>How many there are, also of those that are not connected yet.</summary>
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

    /// <summary>All pipes, also those that are not connected yet.</summary>
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

    /// <summary>Stops accepting and receiving, and ends every pipe in order within the linger time. Returns at once;
    /// <see cref="AllClosed"/> follows.</summary>
    public void Close(DisconnectReason reason, TimeSpan linger, SocketEnd end)
    {
        using (Gate.EnterScope())
        {
            if (_isClosed)
            {
                return;
            }

            End = end;
            Volatile.Write(ref _isClosed, true); // Behind the reason: whoever sees that it is closed sees why.
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
        _parts.Leave(); // This call, which is one of them.
    }

    /// <summary>Ends what is still there, without waiting for anybody.</summary>
    public void Abort() => Endpoints.Abort();

    /// <summary>Why a peer was turned away, for people.</summary>
    public virtual string RefusalReason(PeerIdentity? peer) => "the socket has no place for this peer";

    /// <summary>As <see cref="Introduce"/>. The binder's end of an inproc pair, which would tell another socket under this one's lock, was
    /// introduced before it came here.</summary>
    protected void IntroduceUnderLock(PeerLink link)
    {
        if (link is not InprocLink { IsActive: false })
        {
            Introduce(link);
        }
    }

    /// <summary>Gives a new pipe its place. Under the lock. False: there is none.</summary>
    protected abstract bool Attach(PeerLink link);

    /// <summary>The holder of the newcomer's place, if a silent one loses it; else null. Under the lock.</summary>
    protected virtual WireLink? HolderFor(PeerIdentity newcomer) => null;

    /// <summary>Takes a pipe's place away. Under the lock.</summary>
    protected abstract void Remove(PeerLink link);

    /// <summary>The handshake told who the peer is. Under the lock. False: it cannot stay. <paramref name="loser"/> has to give way to
    /// it.</summary>
    protected virtual bool Identify(PeerLink link, PeerIdentity peer, out PeerLink? loser)
    {
        loser = null;
        return true;
    }

    /// <summary>A full pipe has room again. Under the lock.</summary>
    protected virtual void OnWritable(PeerLink link)
    {
    }

    /// <summary>After a pipe has left, outside of the lock.</summary>
    protected virtual void OnDetached(PeerLink link)
    {
    }

    /// <summary>Another peer took this one's routing id: it has to go, and must not come back by itself.</summary>
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

    /// <summary>Some pipe has room, has come or has gone.</summary>
    protected void OnMaySend(byte[]? routeId, PeerSlot? connection = null)
    {
        BlockedSends.Retry(routeId, connection);
        WritableWatchers.Notify(); // Behind the full fence that the line begins with.
    }

    private void FindOnly() => Volatile.Write(ref _only, _links.Count == 1 ? _links.First() as WireLink : null);
}
