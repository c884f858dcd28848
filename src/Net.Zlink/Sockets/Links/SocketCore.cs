using Net.Zlink.Engine;
using Net.Zlink.Flow;
using Net.Zlink.Monitoring;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Sockets.Endpoints;

namespace Net.Zlink.Sockets.Links;

/// <summary>
/// Thread-safe. <see cref="Gate"/> guards what concerns several links: routing, subscriptions, the set of links. It protects pointer work
/// only, and no other socket's lock is taken under it.
/// </summary>
internal abstract class SocketCore : SocketBase
{
    private readonly HashSet<PeerLink> _links = [];
    private ShortLock _gate;
    private PeerLink? _only;
    private int _filterVersion;

    protected SocketCore(EngineHost host, ZmpSocketType type)
        : base(host, new ReceiveQueue(isInArrivalOrder: type == ZmpSocketType.XPub))
    {
        Type = type;
        Losses = new LossReports(host, Monitors, Counters);
        Connections = new SocketConnections(host.Queued);
    }

    public ZmpSocketType Type { get; }

    public override string TypeName => Type.Name;

    public LossReports Losses { get; }

    public GivenUpEndpoints GivenUp { get; } = new();

    public SocketConnections Connections { get; }

    public PlaceClaims Claims { get; } = new();

    public virtual InboundRole InboundRole => InboundRole.All;

    public bool OnlyFirstSubscribe { get; set; }

    /// <summary>Each new link is sent an empty message first (DEALER, ROUTER).</summary>
    public bool ProbesRouter { get; set; }

    protected ref ShortLock Gate => ref _gate;

    /// <summary>Null: there are none or several. Read without the lock.</summary>
    protected PeerLink? Only => Volatile.Read(ref _only);

    public abstract SendStatus Route(ReadOnlySpan<byte> routeId, in OutgoingMessage message);

    public SendStatus TrySend(in SendTarget target, in OutgoingMessage message) =>
        IsClosed ? SendStatus.Closed : BlockedSends.HasEarlierWaiter(target) ? SendStatus.Full : Route(target, message);

    protected override SendStatus Route(SendWaiter waiter) => Route(waiter.Target, waiter.Deferred.AsOutgoing());

    private SendStatus Route(in SendTarget target, in OutgoingMessage message) =>
        target.Connection is { } connection ? RouteTo(connection, message) : Route(target.RouteId, message);

    public int TrySendMany(ReadOnlySpan<byte> routeId, ReadOnlySpan<ReadOnlyMemory<byte>> payloads) =>
        IsClosed || BlockedSends.HasEarlierWaiter(new SendTarget(routeId)) ? 0 : RouteMany(routeId, payloads);

    protected virtual int RouteMany(ReadOnlySpan<byte> routeId, ReadOnlySpan<ReadOnlyMemory<byte>> payloads) => 0;

    /// <summary>Sends to one connection of a ROUTER without waiting, and never drops.</summary>
    public virtual SendStatus RouteTo(PeerSlot connection, in OutgoingMessage message) => SendStatus.Unroutable;

    /// <summary>Thread-safe; takes only the last lock of the order.</summary>
    public virtual bool Accepts(ReadOnlySpan<byte> firstPart) => true;

    /// <summary>
    /// Read it before <see cref="Accepts"/> and store it with the message. It is not in the receive queue: beside fields that consumers
    /// write for each message, each inproc send paid 15 ns for this read.
    /// </summary>
    public int FilterVersion => Volatile.Read(ref _filterVersion);

    /// <summary><paramref name="notifies"/>: the application gets its notice as a message of its own. False: the caller sends it.</summary>
    public virtual SubscriptionOutcome OnSubscription(PeerLink link, ReadOnlySpan<byte> prefix, bool subscribes, bool notifies = true) =>
        SubscriptionOutcome.Silent;

    public virtual bool Knows(ReadOnlySpan<byte> routeId) => false;

    protected void OnFilterChanged() => Receive.OnFilterChanged(ref _filterVersion);

    /// <summary>A connection that may not read is resumed later by the socket.</summary>
    public virtual bool MayRead(WireLink link) => true;

    public virtual void OnDequeued(in DequeuedMessage dequeued)
    {
    }

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

    /// <summary>Outside of all locks. Unless it <paramref name="mayEnter"/>, a link that was detached meanwhile stays detached.</summary>
    public bool TryAttach(PeerLink link, PeerIdentity? peer, bool mayEnter = true)
    {
        PeerLink? loser;
        byte[]? former;
        byte[]? routeId;
        bool hasPlace;
        PlaceQuestion question = default;
        using (Gate.EnterScope())
        {
            former = link.RouteId;
            hasPlace = AttachUnderLock(link, peer, mayEnter, out loser);
            routeId = link.RouteId;
            if (!hasPlace && !IsClosed && peer is not null && link.AcceptedWire is { } newcomer
                && HolderFor(peer)?.AcceptedWire is { } holder && PlaceClaims.MayWait(holder, peer))
            {
                question = Claims.Add(holder, newcomer);
            }
        }

        if (!hasPlace)
        {
            PlaceClaims.Ask(question);
            return false;
        }

        if (loser is not null)
        {
            DisplacePeer(loser);
        }

        if (former is not null && !ReferenceEquals(former, routeId))
        {
            OnMaySend(former); // A send to that id fails now: another peer answers.
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

        if (IsClosed || (!link.IsAttached && !Attach(link)))
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
            link.Peer.Slot.Link = null;
        }

        link.Peer = peer;
        if (!Identify(link, peer, out loser))
        {
            if (!link.IsActive)
            {
                Leave(link);
            }

            return false;
        }

        peer.Slot.Link = link;
        return true;
    }

    public bool Has(PeerLink link)
    {
        using (Gate.EnterScope())
        {
            return link.IsAttached;
        }
    }

    public void Detach(PeerLink link, bool dropUnread)
    {
        byte[]? routeId;
        using (Gate.EnterScope())
        {
            routeId = link.RouteId;
            Leave(link);
        }

        if (dropUnread)
        {
            Receive.Drop(link.Lane);
        }

        OnDetached(link);
        link.OnDetached();
        OnMaySend(routeId, link.Peer.Slot);
    }

    /// <summary>False: it has disconnected, or another peer has its link. Without <paramref name="linger"/> it ends at once.</summary>
    public bool DisconnectPeer(PeerLink link, PeerIdentity peer, TimeSpan? linger)
    {
        if (!Has(link) || !link.Peer.IsOfSameConnection(peer))
        {
            return false;
        }

        Detach(link, dropUnread: true);
        if (linger is { } time)
        {
            link.Close(DisconnectReason.Local, time);
        }
        else
        {
            link.Abort();
        }

        return true;
    }

    public void FinalizeCounters(PeerLink link)
    {
        if (Counters.TryFinalize(link, out QueueCounts dropped) && dropped.MissedMessages > 0)
        {
            Losses.NotWritten(link, dropped);
        }
    }

    /// <summary>Called before another thread can send on the link.</summary>
    public void Introduce(PeerLink link)
    {
        if (ProbesRouter)
        {
            link.SendOwn(ZmpFlags.None, []);
        }
    }

    public virtual void SendWelcome(PeerLink link, GreetingOccasion occasion)
    {
    }

    /// <summary>The connection of a connecting link. <paramref name="wasBrief"/>: the peer ended it right after the handshake.</summary>
    public virtual void OnConnectionLost(WireLink link, bool hasLasted, bool wasBrief)
    {
    }

    /// <summary>Reads from the only peer: with several it would favour one.</summary>
    public void ReadAhead() => Only?.Reader?.TryReadAhead();

    public override int PeerCount
    {
        get
        {
            using (Gate.EnterScope())
            {
                return _links.Count;
            }
        }
    }

    protected HashSet<PeerLink> LinksUnderLock => _links;

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

    /// <summary>No link is attached any more. True once: <see cref="Close"/> must follow.</summary>
    public bool TryClose(SocketEnd end)
    {
        using (Gate.EnterScope())
        {
            return TryEnd(end);
        }
    }

    /// <summary>Returns at once; <see cref="CloseTracker.AllClosed"/> completes later.</summary>
    public void Close(TimeSpan linger)
    {
        DisconnectReason reason = End.Reason;
        Table.CloseListeners();
        BlockedSends.Close();
        Receive.Close(End.Error);
        foreach (PeerLink link in Links)
        {
            Detach(link, dropUnread: true);
            link.Close(reason, linger);
        }

        Table.CloseDialers(reason, TimeSpan.Zero);
        Array.ForEach(
            Connections.Find(onlyAccepted: true), connection => connection.RequestClose(reason, CloseMode.Orderly, linger));
        Monitors.Stop();
        WritableWatchers.NotifyFenced();
        Parts.Leave();
    }

    public override void Abort()
    {
        Table.AbortDialers();
        Array.ForEach(
            Connections.Find(onlyAccepted: false),
            static connection => connection.RequestClose(DisconnectReason.ContextTerminated, CloseMode.Leave));
    }

    public virtual string RefusalReason(PeerIdentity? peer) => "the socket has no place for this peer";

    protected void IntroduceUnderLock(PeerLink link)
    {
        // The binder's end of an inproc link was introduced before, because that notifies another socket.
        if (link is not { IsInproc: true, IsActive: false })
        {
            Introduce(link);
        }
    }

    protected abstract bool Attach(PeerLink link);

    protected virtual PeerLink? HolderFor(PeerIdentity newcomer) => null;

    protected virtual void Remove(PeerLink link)
    {
    }

    /// <summary><paramref name="loser"/> is displaced by it.</summary>
    protected virtual bool Identify(PeerLink link, PeerIdentity peer, out PeerLink? loser)
    {
        loser = null;
        return true;
    }

    protected virtual void OnWritable(PeerLink link)
    {
    }

    protected virtual void OnDetached(PeerLink link)
    {
    }

    protected virtual void DisplacePeer(PeerLink link)
    {
    }

    protected void Leave(PeerLink link)
    {
        if (link.IsAttached)
        {
            link.IsAttached = false;
            link.Peer.Slot.Link = null;
            _links.RemoveAndTrim(link);
            FindOnly();
            Remove(link);
        }
    }

    /// <summary>The link still has that connection.</summary>
    protected static bool IsCurrent(PeerLink link, PeerSlot connection) => ReferenceEquals(link.Peer.Slot, connection)
        && (link.IsInproc || link.IsConnected); // Both ends of an inproc link do not join in one moment, and it never comes back.

    protected void OnMaySend(byte[]? routeId, PeerSlot? connection = null)
    {
        BlockedSends.Retry(routeId, connection);
        WritableWatchers.Notify(); // After the full fence that the retry begins with.
    }

    private void FindOnly() => Volatile.Write(ref _only, _links.Count == 1 ? _links.First() : null);
}

internal enum GreetingOccasion
{
    NewLink,

    FirstConnection,

    NextConnection,
}

/// <summary>What a socket does with the messages of its peers.</summary>
internal enum InboundRole
{
    All,

    Filtered,

    Subscriptions,

    SubscriptionsAndData,
}

internal enum SubscriptionOutcome
{
    Silent,

    Notify,

    TooMany,

    /// <summary>All peers together exceed the limit, and this one exceeds its share.</summary>
    TooManyOfAll,
}

/// <summary><paramref name="Error"/>: what calls throw from then on.</summary>
internal readonly record struct SocketEnd(DisconnectReason Reason, Func<Exception> Error);
