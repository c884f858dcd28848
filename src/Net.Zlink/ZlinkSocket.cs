using Net.Zlink.Monitoring;
using Net.Zlink.Sockets;
using Net.Zlink.Sockets.Links;
using Net.Zlink.Sockets.Zmp;
using Net.Zlink.Transports;

namespace Net.Zlink;

/// <summary>What the seven ZMP sockets have in common: endpoints, options, events, statistics, and their end.</summary>
/// <remarks>Safe for any number of threads.</remarks>
public abstract class ZlinkSocket : IContextSocket, IDisposable, IAsyncDisposable
{
    private readonly ZlinkContext _context;
    private string _lastEndpoint = "";
    private byte[]? _nextPeerName;

    private protected ZlinkSocket(ZlinkContext context, SocketCore core, ZmpSocketOptions options)
    {
        _context = context;
        Core = core;
        Options = options;
    }

    /// <summary>The options.</summary>
    public ZmpSocketOptions Options { get; }

    /// <summary>The endpoint of the last successful bind, with what the system filled in, or the text of the last successful connect, but for one that found its endpoint there already. Empty before.</summary>
    public string LastEndpoint => Volatile.Read(ref _lastEndpoint);

    /// <summary>What is bound now, with what the system filled in: a snapshot, in no order.</summary>
    public IReadOnlyList<string> BoundEndpoints => EndpointStatus.TextsOf(Core.Endpoints.All, areBound: true);

    /// <summary>What this side connects to now, connected or not, as it was given to Connect: a snapshot. Over inproc one for each connect.</summary>
    public IReadOnlyList<string> ConnectedEndpoints => EndpointStatus.TextsOf(Core.Endpoints.All, areBound: false);

    /// <summary>Pipes to peers, also to those that are not connected yet.</summary>
    public int PeerCount => Core.LinkCount;

    /// <summary>A message can be received now.</summary>
    public bool CanReceive => Core.Receive.IsReadable;

    /// <summary>A send would not have to wait now. As natively always true of PUB and XPUB, with NoDrop too, and of ROUTER without Mandatory; with it while any peer has room, be it not the one that is to be sent to: the send itself says.</summary>
    public bool CanSend => Core.CanSend;

    internal SocketCore Core { get; }

    /// <summary>Listens for peers.</summary>
    /// <param name="endpoint">tcp://host:port (host an address, a name, an interface or *; port 0 or * for any free one), ipc://path, ipc://@name, ipc://*, inproc://name, tls://host:port, ws://host:port/path, or wss://host:port/path. A listener over tls or wss needs a certificate first, in <see cref="SocketOptions.Tls"/>.</param>
    /// <returns>The endpoint with the real port and the numeric address, over ws and wss the host as it was written; or the path.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="endpoint"/> is null.</exception>
    /// <exception cref="ZlinkException">InvalidArgument, ProtocolNotSupported, NoDevice, AddressInUse, TooManySockets, NoThread ...; the message says what to do. ContextTerminated.</exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    public string Bind(string endpoint)
    {
        ArgumentNullException.ThrowIfNull(endpoint);
        ThrowIfEnded();
        EndpointError error = Core.Endpoints.Bind(endpoint, Snapshot(endpoint, alias: null), out string resolved);
        if (error.Fault != EndpointFault.None)
        {
            throw ZlinkException.ForEndpoint(endpoint, error);
        }

        ThrowIfEnded(); // While it was being bound: then nothing is.
        Volatile.Write(ref _lastEndpoint, resolved);
        return resolved;
    }

    /// <summary>Connects to a peer, in the background: returns at once, tries again until it succeeds, and connects anew after a loss. A text that is connected already, or that this socket's own Bind returned, stays as it is; for inproc each call makes a pipe.</summary>
    /// <remarks>
    /// Why an attempt failed is told by the event ConnectRetried, in the log, once for each reason, and by <see cref="GetPeers"/> and <see cref="Describe"/>. As in the native core a fault of the protocol ends the endpoint for good: a peer that speaks
    /// something else, is of a type that does not match, or was sent or sends what is over its or our MaxMessageSize (docs/protocol.md section 13). That is the event ConnectGivenUp, and a warning; connect again once its cause is mended, or set <see cref="ZmpSocketOptions.ReconnectAfterFault"/> before.
    /// </remarks>
    /// <param name="endpoint">tcp://host:port, tcp://source:port;host:port, ipc://path, ipc://@name, inproc://name, tls://host:port, ws://host:port/path, or wss://host:port/path.</param>
    /// <exception cref="ArgumentNullException"><paramref name="endpoint"/> is null.</exception>
    /// <exception cref="ZlinkException">InvalidArgument, ProtocolNotSupported, NotCompatible, NoThread; the message says what to do. ContextTerminated.</exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    public void Connect(string endpoint) => ConnectAs(endpoint, alias: null);

    /// <summary>Stops listening at an endpoint and ends the peers that came in by it (of inproc, which stay, only the name is freed). What they sent and is unread can still be received; a PAIR takes the next peer when it is.</summary>
    /// <param name="endpoint">The text given to Bind, or the one it returned.</param>
    /// <exception cref="ArgumentNullException"><paramref name="endpoint"/> is null.</exception>
    /// <exception cref="ZlinkException">NotFound: there is no such endpoint. ContextTerminated.</exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    public void Unbind(string endpoint) => Remove(endpoint);

    /// <summary>Ends a connection that <see cref="Connect(string)"/> made. What was accepted is delivered within <see cref="SocketOptions.Linger"/>; unread messages of it are dropped.</summary>
    /// <param name="endpoint">The text given to Connect; of tcp and tls, where that has an address in numbers, also a name of it.</param>
    /// <exception cref="ArgumentNullException"><paramref name="endpoint"/> is null.</exception>
    /// <exception cref="ZlinkException">NotFound: there is no such endpoint. ContextTerminated.</exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    public void Disconnect(string endpoint) => Remove(endpoint);

    /// <summary>Throws out a peer that came in by an endpoint of this socket's <see cref="Bind"/>: what it sent is dropped unless it was received, it gets what was sent to it within <see cref="SocketOptions.CloseTimeout"/>, or <see cref="SocketOptions.Linger"/> where that is shorter, and its connection ends, which raises no event here.</summary>
    /// <remarks>It may come again: over tcp, ipc, tls, ws and wss it tries to, natively too. Who may not come in at all is for <see cref="TlsOptions.Validation"/> and <see cref="WebSocketOptions.Admission"/> to say.</remarks>
    /// <param name="peer">Of this socket's peers, lately: see <see cref="GetPeers"/>.</param>
    /// <returns>False: it has gone already, also where it has come again since.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="peer"/> is null.</exception>
    /// <exception cref="ArgumentException">It is the peer of another socket, or one that this socket connects to: <see cref="Disconnect(string)"/> ends that.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    public bool DisconnectPeer(PeerInfo peer)
    {
        ArgumentNullException.ThrowIfNull(peer);
        ThrowIfEnded();
        return DisconnectPeerCore(peer.Of.Pipe, peer.Of.Peer, nameof(peer));
    }

    /// <summary>Begins to watch this socket's events.</summary>
    /// <param name="mask">Which.</param>
    /// <returns>A monitor of its own; dispose it when it is not needed any more.</returns>
    public SocketMonitor OpenMonitor(SocketEventTypes mask = SocketEventTypes.All) => Core.Monitors.Open(mask);

    /// <summary>Calls back for this socket's events: in order, one at a time, on the thread pool and never on a shard, so that the callback may block. What it throws is logged.</summary>
    /// <param name="mask">Which events.</param>
    /// <param name="handler">The callback. When it is slower than the events, the oldest are dropped, as for a monitor that is not read.</param>
    /// <returns>Dispose it to end the calls; one that runs already may go on. Ends by itself with the socket, after <see cref="SocketEventTypes.MonitorStopped"/>.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="handler"/> is null.</exception>
    public IDisposable OnEvent(SocketEventTypes mask, Action<SocketEvent> handler)
    {
        ArgumentNullException.ThrowIfNull(handler);
        return new EventCallback(Core.Monitors.Open(mask), handler, _context.Host.Logger);
    }

    /// <summary>What this socket has done so far: a snapshot.</summary>
    /// <returns>The statistics.</returns>
    public SocketStatistics GetStatistics() => SocketStatistics.Of(Core);

    /// <summary>The peers: a snapshot, also of those that are not connected yet.</summary>
    /// <returns>One entry per pipe.</returns>
    public IReadOnlyList<PeerInfo> GetPeers() => [.. Core.Links.Select(PeerInfo.For)];

    /// <summary>Endpoints, counts and peers as text of several lines, for a log or a debugger. Made for people: its form may change.</summary>
    /// <returns>The text.</returns>
    public string Describe() => SocketDescription.Of(this);

    /// <summary>
    /// Ends the socket and returns at once: nothing more is accepted or received; what Send accepted goes on being written in the background, for at most
    /// <see cref="SocketOptions.Linger"/>, and the context's shutdown waits for it. Idempotent.
    /// </summary>
    public void Dispose()
    {
        BeginClose(DisconnectReason.Local, Options.Linger);
        GC.SuppressFinalize(this);
    }

    /// <summary>As <see cref="Dispose"/>: returns at once.</summary>
    /// <returns>A completed task.</returns>
    public ValueTask DisposeAsync()
    {
        Dispose();
        GC.SuppressFinalize(this);
        return ValueTask.CompletedTask;
    }

    Task IContextSocket.AllClosed => Core.AllClosed;

    bool IContextSocket.IsClosed => Core.IsClosed;

    SocketMonitors IContextSocket.Monitors => Core.Monitors;

    void IContextSocket.BeginClose(DisconnectReason reason) => BeginClose(reason, Options.Linger);

    void IContextSocket.Abort() => Core.Abort();

    void IContextSocket.AddTo(UndeliveredSummary counters) => counters.Add(Core);

    /// <summary>A disposed socket, or one whose context was shut down, does nothing more.</summary>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    internal void ThrowIfEnded()
    {
        if (Core.IsClosed)
        {
            throw Core.End.Error();
        }
    }

    /// <summary>Names the peer of the next connect that does not fail and finds nothing there already, for code that is being ported: the native CONNECT_ROUTING_ID.</summary>
    internal void NameNextPeer(byte[] name) => Volatile.Write(ref _nextPeerName, name);

    private protected void ConnectAs(string endpoint, byte[]? alias)
    {
        ArgumentNullException.ThrowIfNull(endpoint);
        ThrowIfEnded();
        byte[]? next = alias is null ? Interlocked.Exchange(ref _nextPeerName, null) : null;
        bool isMade = false;
        try
        {
            EndpointError error = Core.Endpoints.Connect(endpoint, Snapshot(endpoint, alias ?? next), out bool wasThere);
            if (error.Fault != EndpointFault.None)
            {
                next = error.Fault == EndpointFault.AddressInUse ? null : next; // It is the name that is in use: it would fail each connect to come.
                throw ZlinkException.ForEndpoint(endpoint, error);
            }

            isMade = !wasThere;
        }
        finally
        {
            if (!isMade && next is not null)
            {
                Interlocked.CompareExchange(ref _nextPeerName, next, null); // As natively it waits for a connect that comes to something.
            }
        }

        if (isMade)
        {
            Volatile.Write(ref _lastEndpoint, endpoint);
        }
    }

    private protected bool DisconnectPeerCore(PeerLink? link, PeerIdentity peer, string argument) =>
        link is null || !ReferenceEquals(link.Socket, Core) ? throw new ArgumentException("That is a peer of another socket.", argument)
        : link is WireLink { Dialer: not null } or InprocLink { IsActive: true } ? throw new ArgumentException($"This socket connects to that peer: Disconnect(\"{link.Endpoint}\") ends it.", argument)
        : Core.DisconnectPeer(link, peer, (ulong)Options.Linger.Ticks < (ulong)Options.CloseTimeout.Ticks ? Options.Linger : Options.CloseTimeout); // An infinite time is negative: who does not read is not to stay for ever.

    /// <summary>Applies the options that act at once, now and whenever one changes.</summary>
    private protected void Watch()
    {
        Options.Watcher = this;
        ApplyOptions();
    }

    /// <summary>The same for a type that has nothing of its own to apply: at first only the cap on connections, if there is one.</summary>
    /// <remarks>Applied without need, before a pipe is there, it halves the rate of a PAIR over inproc (15 instead of 25 million messages a second on two threads), by where its objects come to lie.</remarks>
    private protected void WatchLimits()
    {
        Options.Watcher = this;
        if (Options.MaxConnections > 0)
        {
            ApplyOptions();
        }
    }

    /// <summary>An option that acts at once has another value: who waited because of the old one may go on.</summary>
    internal void OnOptionChanged()
    {
        ApplyOptions();
        Core.BlockedSends.RetryAll();
        Core.WritableWatchers.NotifyFenced();
    }

    private protected virtual void ApplyOptions()
    {
        Core.Endpoints.MaxConnections = Options.MaxConnections;
        foreach (PeerLink link in Core.Links)
        {
            link.SetLimits(Options.SendLimits, Options.ReceiveLimits);
        }
    }

    private ZmpSettings Snapshot(string endpoint, byte[]? alias)
    {
        int shards = _context.Options.ShardCount;
        ulong affinity = Options.ShardAffinity;
        if (affinity != 0 && shards < 64 && affinity >> shards << shards == affinity && !endpoint.StartsWith("inproc:", StringComparison.Ordinal))
        {
            throw new ZlinkException(ZlinkError.NoThread, $"ShardAffinity allows none of the context's {shards} shards; use a mask of their numbers, or 0 for all");
        }

        return Options.Snapshot(Core.Type, alias);
    }

    private void BeginClose(DisconnectReason reason, TimeSpan linger)
    {
        bool local = reason == DisconnectReason.Local;
        string name = GetType().FullName!;
        Core.Close(
            reason,
            linger,
            local
                ? new SocketEnd(Engine.SendStatus.Closed, () => new ObjectDisposedException(name))
                : new SocketEnd(Engine.SendStatus.Terminated, static () => new ZlinkException(ZlinkError.ContextTerminated, "the context was shut down")));
        if (local)
        {
            _ = ForgetWhenClosedAsync();
        }
    }

    private async Task ForgetWhenClosedAsync()
    {
        await Core.AllClosed.ConfigureAwait(false);
        _context.Forget(this);
    }

    private void Remove(string endpoint)
    {
        ArgumentNullException.ThrowIfNull(endpoint);
        ThrowIfEnded();
        if (!Core.Endpoints.Remove(endpoint, Options.Linger))
        {
            if (!EndpointText.TryParse(endpoint, out _, out EndpointError error))
            {
                throw ZlinkException.ForEndpoint(endpoint, error);
            }

            throw new ZlinkException(ZlinkError.NotFound, $"{EndpointError.Quote(endpoint)} is neither bound nor connected; use the text given to Bind or Connect, or the one that Bind returned");
        }
    }
}
