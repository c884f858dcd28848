using Net.Zlink.Flow;
using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Sockets.Pipes;
using Net.Zlink.Sockets.Zmp;

namespace Net.Zlink.Sockets;

/// <summary>The inside of one ZMP socket: its pipes, its receive queue, its endpoints and its books. What the types do differently is in the classes derived from it.</summary>
/// <remarks>
/// Safe for any number of threads. <see cref="Gate"/> guards what spans pipes: routing, subscriptions, the set of pipes; it is held for pointer work only, and under it no other socket's lock is taken.
/// Order of locks: the send line's, then this, then a pipe's.
/// </remarks>
internal abstract class SocketCore
{
    private readonly HashSet<Pipe> _pipes = [];
    private readonly OpenParts _parts = new();
    private ShortLock _gate;
    private WirePipe? _only;
    private bool _isClosed; // As _parts says, in whose memory each send would have to look otherwise.
    private int _narrowings;

    protected SocketCore(EngineHost host, InprocRegistry inproc, ZmpSocketType type)
    {
        Host = host;
        Type = type;
        Receive = new ReceiveQueue(isInArrivalOrder: type == ZmpSocketType.XPub);
        Line = new SendLine(this);
        Endpoints = new SocketEndpoints(this, inproc);
        Events = new SessionEvents(this);
        Sessions = new SessionLife(this);
        Claims = new PlaceClaims(this);
    }

    public EngineHost Host { get; }

    public ZmpSocketType Type { get; }

    public ReceiveQueue Receive { get; }

    public SendLine Line { get; }

    public SocketMonitors Monitors { get; } = new();

    public SocketBooks Books { get; } = new();

    public SocketEndpoints Endpoints { get; }

    public GivenUpEndpoints GivenUp { get; } = new();

    public SessionEvents Events { get; }

    /// <summary>Newcomers whose place another connection has.</summary>
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

    /// <summary>Told, outside all locks, that a send which would have had to wait may not have to any more, or that the socket is closed.</summary>
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
        IsClosed ? End.Outcome : Line.IsInFrontOf(routeId) ? SendStatus.Full : Route(routeId, message);

    /// <summary>Sends to one connection, without waiting: never dropped, whatever the type's rule (ROUTER).</summary>
    public virtual SendStatus RouteTo(PeerSlot connection, in OutgoingMessage message) => SendStatus.Unroutable;

    /// <summary>As <see cref="RouteTo"/>, behind those who wait.</summary>
    public SendStatus TrySendTo(PeerSlot connection, in OutgoingMessage message) =>
        IsClosed ? End.Outcome : Line.IsInFrontOf(connection) ? SendStatus.Full : RouteTo(connection, message);

    /// <summary>Whether a message that begins with this part is for the application (SUB). Any thread; takes no lock but a last one of its own.</summary>
    public virtual bool Accepts(ReadOnlySpan<byte> firstPart) => true;

    /// <summary>How often the filter came to want less (SUB). Whoever asks <see cref="Accepts"/> for a message looks here before, and notes it with the message.</summary>
    /// <remarks>Not in the receive queue, though that is what it is for: next to what consumers write there for each message, a look by each sender in this process cost 15 ns.</remarks>
    public int Narrowings => Volatile.Read(ref _narrowings);

    /// <summary>A peer subscribes or cancels (PUB, XPUB).</summary>
    /// <param name="pipe">The peer.</param>
    /// <param name="prefix">The topic.</param>
    /// <param name="subscribes">Or cancels.</param>
    /// <param name="tells">The application gets its notice, if one is due, as a message of its own; false: the caller sees to that.</param>
    public virtual SubscriptionOutcome OnSubscription(Pipe pipe, ReadOnlySpan<byte> prefix, bool subscribes, bool tells = true) => SubscriptionOutcome.Silent;

    /// <summary>There is a peer of that routing id (ROUTER).</summary>
    public virtual bool Knows(ReadOnlySpan<byte> routeId) => false;

    /// <summary>A lane has messages that nobody has told the receive queue of. Outside of all locks.</summary>
    public virtual void Announce(InboundLane lane, int messages) => Receive.Enqueue(lane, messages);

    /// <summary>The filter wants less by now: nothing else is received from here on, also of what it let in before.</summary>
    protected void Narrow() => Receive.Narrow(ref _narrowings);

    /// <summary>Whether a pipe's connection may read on, as far as the socket as a whole is concerned; if not, it resumes it later. On its shard.</summary>
    public virtual bool MayRead(WirePipe pipe) => true;

    /// <summary>A message is about to be handed to the application.</summary>
    public virtual void OnTaken(in TakenMessage taken)
    {
    }

    /// <summary>A pipe that had refused a message has room.</summary>
    public void OnRoom(Pipe pipe)
    {
        byte[]? routeId;
        using (Gate.Hold())
        {
            routeId = pipe.RouteId;
            if (pipe.IsAttached)
            {
                OnWritable(pipe);
            }
        }

        OnMaySend(routeId, pipe.Peer.Slot);
    }

    /// <summary>Takes a pipe in, if the type has a place for it. Outside of all locks.</summary>
    /// <param name="pipe">The pipe.</param>
    /// <param name="peer">Who is at the other end; null before a handshake.</param>
    /// <returns>False: turned away.</returns>
    public bool TryAttach(Pipe pipe, PeerIdentity? peer) => TryAttach(pipe, peer, mayEnter: true);

    /// <summary>Says who is at the other end of a pipe that was taken in before. One that has left meanwhile stays outside. Outside of all locks.</summary>
    /// <returns>False: turned away.</returns>
    public bool TryIdentify(Pipe pipe, PeerIdentity peer) => TryAttach(pipe, peer, mayEnter: false);

    private bool TryAttach(Pipe pipe, PeerIdentity? peer, bool mayEnter)
    {
        Pipe? loser;
        byte[]? routeId;
        bool hasPlace;
        PlaceQuestion question = default;
        using (Gate.Hold())
        {
            hasPlace = AttachUnderLock(pipe, peer, mayEnter, out loser);
            routeId = pipe.RouteId;
            if (!hasPlace && !_isClosed && peer is not null && pipe is WirePipe { Accepted: { } newcomer } && HolderFor(peer) is { Accepted: not null } holder && PlaceClaims.MayWait(holder, peer))
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
            Evict(loser);
        }

        OnMaySend(routeId, pipe.Peer.Slot);
        return true;
    }

    private bool AttachUnderLock(Pipe pipe, PeerIdentity? peer, bool mayEnter, out Pipe? loser)
    {
        loser = null;
        if (!pipe.IsAttached && !mayEnter)
        {
            return true;
        }

        if (_isClosed || (!pipe.IsAttached && !Attach(pipe)))
        {
            return false;
        }

        if (!pipe.IsAttached)
        {
            pipe.IsAttached = true;
            _pipes.Add(pipe);
            Books.Open(pipe);
            FindOnly();
        }

        if (peer is null)
        {
            return true;
        }

        if (!ReferenceEquals(pipe.Peer.Slot, peer.Slot))
        {
            pipe.Peer.Slot.Pipe = null; // The last connection's.
        }

        pipe.Peer = peer;
        if (!Identify(pipe, peer, out loser))
        {
            if (pipe is not WirePipe { Dialer: not null })
            {
                Leave(pipe);
            }

            return false;
        }

        peer.Slot.Pipe = pipe;
        Receive.Follow(pipe.Lane, pipe.Peer.RoutingId);
        return true;
    }

    /// <summary>Whether a pipe takes part in the socket's routing.</summary>
    public bool Has(Pipe pipe)
    {
        using (Gate.Hold())
        {
            return pipe.IsAttached;
        }
    }

    /// <summary>A pipe is gone. What it received stays readable, unless that is to be dropped.</summary>
    public void Detach(Pipe pipe, bool dropUnread)
    {
        byte[]? routeId;
        using (Gate.Hold())
        {
            routeId = pipe.RouteId;
            Receive.End(pipe.Lane, pipe.Peer.RoutingId); // While the peer has its place: its next connection sees it.
            Leave(pipe);
        }

        if (dropUnread)
        {
            Receive.Drop(pipe.Lane);
        }

        OnDetached(pipe);
        if (pipe is WirePipe holder)
        {
            Claims.OnLeft(holder);
        }

        if (pipe is InprocPipe { IsActive: true } connecter)
        {
            Endpoints.Forget(connecter);
        }

        // A send that waited for this one's room need not any more, be it that it goes to others only, or to nobody.
        OnMaySend(routeId, pipe.Peer.Slot);
    }

    /// <summary>Ends a peer that came in: it has no place from here on, and what it sent is dropped. What was sent to it goes out within the linger time.</summary>
    /// <returns>False: it has gone, be it that there is another one in its place.</returns>
    public bool ThrowOut(Pipe pipe, PeerIdentity peer, TimeSpan linger)
    {
        if (!Has(pipe) || !pipe.Peer.IsOfSameConnection(peer))
        {
            return false;
        }

        Detach(pipe, dropUnread: true);
        pipe.Close(DisconnectReason.Local, linger); // Where its session is about to be noted, whoever notes it sees that it has no place any more.
        return true;
    }

    /// <summary>A pipe takes and gives nothing any more: its counts become the socket's.</summary>
    public void CloseBooks(Pipe pipe)
    {
        if (Books.TryClose(pipe, out OutboundCounts dropped) && dropped.MissedMessages > 0)
        {
            Events.NotWritten(pipe, dropped);
        }
    }

    /// <summary>Says what comes first on a new pipe, ahead of sends that wait for one: a probe. Before any thread can send on it.</summary>
    public void Introduce(Pipe pipe)
    {
        if (ProbesRouter)
        {
            pipe.SendOwn(ZmpFlags.None, []);
        }
    }

    /// <summary>Says what the socket itself has to say to a peer that it has taken in: topics, a welcome. Outside of the socket's lock.</summary>
    public virtual void Greet(Pipe pipe, GreetingOccasion occasion)
    {
    }

    /// <summary>The connection of an outgoing pipe is lost; the pipe stays.</summary>
    public virtual void OnConnectionLost(WirePipe pipe, ZmpSession session)
    {
    }

    /// <summary>Looks for what the only peer may have just sent, on the calling thread. With several peers it would favour one.</summary>
    public void ReadAhead() => Volatile.Read(ref _only)?.Session?.Connection.TryReadAhead();

    /// <summary>How many there are, also of those that are not connected yet.</summary>
    public int PipeCount
    {
        get
        {
            using (Gate.Hold())
            {
                return _pipes.Count;
            }
        }
    }

    /// <summary>All pipes, also those that are not connected yet.</summary>
    public Pipe[] Pipes
    {
        get
        {
            using (Gate.Hold())
            {
                return [.. _pipes];
            }
        }
    }

    /// <inheritdoc cref="OpenParts.TryEnter"/>
    public bool Enter() => _parts.TryEnter();

    /// <inheritdoc cref="OpenParts.EnterAgain"/>
    public void EnterAgain() => _parts.EnterAgain();

    /// <inheritdoc cref="OpenParts.Leave"/>
    public void Leave() => _parts.Leave();

    /// <summary>Stops accepting and receiving, and ends every pipe in order within the linger time. Returns at once; <see cref="AllClosed"/> follows.</summary>
    public void Close(DisconnectReason reason, TimeSpan linger, SocketEnd end)
    {
        using (Gate.Hold())
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
        Line.Close(end.Outcome);
        Receive.Close(end.Error);
        foreach (Pipe pipe in Pipes)
        {
            Detach(pipe, dropUnread: true);
            pipe.Close(reason, linger);
        }

        Endpoints.CloseSessions(reason, linger);
        Monitors.Stop();
        WritableWatchers.TellFenced();
        _parts.Leave(); // This call, which is one of them.
    }

    /// <summary>Ends what is still there, without waiting for anybody.</summary>
    public void Abort() => Endpoints.Abort();

    /// <summary>Why a peer was turned away, for people.</summary>
    public virtual string WhyNoPlace(PeerIdentity? peer) => "the socket has no place for this peer";

    /// <summary>As <see cref="Introduce"/>. The binder's end of an inproc pair, which would tell another socket under this one's lock, was introduced before it came here.</summary>
    protected void IntroduceUnderLock(Pipe pipe)
    {
        if (pipe is not InprocPipe { IsActive: false })
        {
            Introduce(pipe);
        }
    }

    /// <summary>Gives a new pipe its place. Under the lock. False: there is none.</summary>
    protected abstract bool Attach(Pipe pipe);

    /// <summary>Who has the place that a newcomer would need, and leaves it if it is silent. Under the lock. Null: there is no such peer.</summary>
    protected virtual WirePipe? HolderFor(PeerIdentity newcomer) => null;

    /// <summary>Takes a pipe's place away. Under the lock.</summary>
    protected abstract void Remove(Pipe pipe);

    /// <summary>The handshake told who the peer is. Under the lock. False: it cannot stay. <paramref name="loser"/> has to give way to it.</summary>
    protected virtual bool Identify(Pipe pipe, PeerIdentity peer, out Pipe? loser)
    {
        loser = null;
        return true;
    }

    /// <summary>A full pipe has room again. Under the lock.</summary>
    protected virtual void OnWritable(Pipe pipe)
    {
    }

    /// <summary>After a pipe has left, outside of the lock.</summary>
    protected virtual void OnDetached(Pipe pipe)
    {
    }

    /// <summary>Another peer took this one's routing id: it has to go, and must not come back by itself.</summary>
    protected virtual void Evict(Pipe pipe)
    {
    }

    protected void Leave(Pipe pipe)
    {
        if (pipe.IsAttached)
        {
            pipe.IsAttached = false;
            pipe.Peer.Slot.Pipe = null;
            _pipes.RemoveAndTrim(pipe);
            FindOnly();
            Remove(pipe);
        }
    }

    /// <summary>Some pipe has room, has come or has gone.</summary>
    protected void OnMaySend(byte[]? routeId, PeerSlot? connection = null)
    {
        Line.Move(routeId, connection);
        WritableWatchers.Tell(); // Behind the full fence that the line begins with.
    }

    private void FindOnly() => Volatile.Write(ref _only, _pipes.Count == 1 ? _pipes.First() as WirePipe : null);
}
