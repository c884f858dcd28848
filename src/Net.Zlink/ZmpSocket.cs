using Net.Zlink.Monitoring;
using Net.Zlink.Sockets;
using Net.Zlink.Sockets.Links;
using Net.Zlink.Sockets.Zmp;
using Net.Zlink.Transports;

namespace Net.Zlink;

/// <summary>What the sockets that speak ZMP have in common: all but STREAM. They connect in the background and again after a loss, and
/// their messages have parts.</summary>
/// <remarks>Safe for any number of threads.</remarks>
public abstract class ZmpSocket : ZlinkSocket, IContextSocket
{
    private byte[]? _nextPeerName;

    private protected ZmpSocket(ZlinkContext context, SocketCore core, ZmpSocketOptions options)
        : base(context, options)
    {
        Core = core;
        Options = options;
    }

    /// <summary>The options.</summary>
    public new ZmpSocketOptions Options { get; }

    /// <inheritdoc/>
    /// <remarks>Pipes to peers, also to those that are not connected yet.</remarks>
    public override int PeerCount => Core.LinkCount;

    /// <inheritdoc/>
    public override bool CanReceive => Core.Receive.IsReadable;

    /// <summary>A send would not have to wait now. As natively always true of PUB and XPUB, with NoDrop too, and of ROUTER without
    /// Mandatory; with it while any peer has room, be it not the one that is to be sent to: the send itself says.</summary>
    public override bool CanSend => Core.CanSend;

    internal SocketCore Core { get; }

    private protected override SocketMonitors Monitors => Core.Monitors;

    private protected override EndpointStatus[] Endpoints => Core.Endpoints.All;

    internal override PollItem Polled(PollEvents events, object? userState) => new ZmpPollItem(this, events, userState);

    /// <inheritdoc/>
    public override string Bind(string endpoint)
    {
        ArgumentNullException.ThrowIfNull(endpoint);
        ThrowIfEnded();
        EndpointError error = Core.Endpoints.Bind(endpoint, Snapshot(endpoint, alias: null), out string resolved);
        if (error.Fault != EndpointFault.None)
        {
            throw ZlinkException.ForEndpoint(endpoint, error);
        }

        ThrowIfEnded(); // While it was being bound: then nothing is.
        SetLastEndpoint(resolved);
        return resolved;
    }

    /// <summary>Connects to a peer, in the background: returns at once, tries again until it succeeds, and connects anew after a loss. A
    /// text that is connected already, or that this socket's own Bind returned, stays as it is; for inproc each call makes a
    /// pipe.</summary>
    /// <remarks>
    /// Why an attempt failed is told by the event ConnectRetried, in the log, once for each reason, and by <see cref="GetPeers"/> and
    /// <see cref="Describe"/>. As in the native core a fault of the protocol ends the endpoint for good: a peer that speaks something else,
    /// is of a type that does not match, or was sent or sends what is over its or our MaxMessageSize (docs/protocol.md section 13). That is
    /// the event ConnectGivenUp, and a warning; connect again once its cause is mended, or set
    /// <see cref="ZmpSocketOptions.ReconnectAfterFault"/> before.
    /// </remarks>
    /// <param name="endpoint">tcp://host:port, tcp://source:port;host:port, ipc://path, ipc://@name, inproc://name, tls://host:port,
    /// ws://host:port/path, or wss://host:port/path.</param>
    /// <exception cref="ArgumentNullException"><paramref name="endpoint"/> is null.</exception>
    /// <exception cref="ZlinkException">InvalidArgument, ProtocolNotSupported, NotCompatible, NoThread; the message says what to do.
    /// ContextTerminated.</exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    public void Connect(string endpoint) => ConnectAs(endpoint, alias: null);

    /// <inheritdoc/>
    public override void Unbind(string endpoint) => Remove(endpoint);

    /// <inheritdoc/>
    public override void StopListening(string endpoint)
    {
        ArgumentNullException.ThrowIfNull(endpoint);
        ThrowIfEnded();
        if (!Core.Endpoints.StopListening(endpoint))
        {
            throw NotThere(endpoint, "is not bound; use the text given to Bind, or the one that it returned");
        }
    }

    /// <inheritdoc/>
    public override void Disconnect(string endpoint) => Remove(endpoint);

    /// <summary>Throws out a peer that came in by an endpoint of this socket's <see cref="Bind"/>: what it sent is dropped unless it was
    /// received, it gets what was sent to it within <see cref="SocketOptions.CloseTimeout"/>, or <see cref="SocketOptions.Linger"/> where
    /// that is shorter, and its connection ends, which raises no event here.</summary>
    /// <remarks>It may come again: over tcp, ipc, tls, ws and wss it tries to, natively too. Who may not come in at all is for
    /// <see cref="TlsOptions.Validation"/> and <see cref="WebSocketTransportOptions.Admission"/> to say.</remarks>
    /// <param name="peer">Of this socket's peers, lately: see <see cref="GetPeers"/>.</param>
    /// <returns>False: it has gone already, also where it has come again since.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="peer"/> is null.</exception>
    /// <exception cref="ArgumentException">It is the peer of another socket, or one that this socket connects to:
    /// <see cref="Disconnect(string)"/> ends that.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    public bool DisconnectPeer(PeerInfo peer)
    {
        ArgumentNullException.ThrowIfNull(peer);
        ThrowIfEnded();
        return EndPeer(peer.Of.Pipe, peer.Of.Peer, nameof(peer));
    }

    /// <summary>What this socket has done so far: a snapshot.</summary>
    /// <returns>The statistics.</returns>
    public SocketStatistics GetStatistics() => SocketStatistics.Of(Core);

    /// <summary>The peers: a snapshot, also of endpoints that are not connected, with the reason in
    /// <see cref="PeerInfo.WhyNotConnected"/>.</summary>
    /// <returns>One entry for each peer, and for each endpoint that this side connects to and that has none.</returns>
    public IReadOnlyList<PeerInfo> GetPeers() => [.. Core.Links.Select(PeerInfo.For), .. Core.Endpoints.WithoutPipe.Select(PeerInfo.For)];

    /// <inheritdoc/>
    public override string Describe() => SocketDescription.Of(this);

    Task IContextSocket.AllClosed => Core.AllClosed;

    bool IContextSocket.IsClosed => Core.IsClosed;

    SocketMonitors IContextSocket.Monitors => Core.Monitors;

    void IContextSocket.BeginClose(DisconnectReason reason) => BeginClose(reason, Options.LingerTime);

    void IContextSocket.Abort() => Core.Abort();

    void IContextSocket.AddTo(UndeliveredSummary counters) => counters.Add(Core);

    internal override void ThrowIfEnded()
    {
        if (Core.IsClosed)
        {
            throw Core.End.Error();
        }
    }

    /// <summary>Names the peer of the next connect that does not fail and finds nothing there already, for code that is being ported: the
    /// native CONNECT_ROUTING_ID.</summary>
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
                // It is the name that is in use: it would fail each connect to come.
                next = error.Fault == EndpointFault.AddressInUse ? null : next;
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
            SetLastEndpoint(endpoint);
        }
    }

    private protected bool EndPeer(PeerLink? link, PeerIdentity peer, string argument) =>
        link is null || !ReferenceEquals(link.Socket, Core) ? throw new ArgumentException("That is a peer of another socket.", argument)
        : link is WireLink { Dialer: not null } or InprocLink { IsActive: true }
            ? throw new ArgumentException($"This socket connects to that peer: Disconnect(\"{link.Endpoint}\") ends it.", argument)
        // An infinite time is negative: who does not read is not to stay for ever.
        : Core.DisconnectPeer(link, peer, (ulong)Options.LingerTime.Ticks < (ulong)Options.CloseTimeout.Ticks ? Options.LingerTime
            : Options.CloseTimeout);

    /// <summary>Applies the options that act at once, now and whenever one changes.</summary>
    private protected void Watch()
    {
        Options.Watcher = this;
        ApplyOptions();
    }

    /// <summary>The same for a type that has nothing of its own to apply: at first only the cap on connections, if there is one.</summary>
    /// <remarks>Applied without need, before a pipe is there, it halves the rate of a PAIR over inproc (15 instead of 25 million messages a
    /// second on two threads), by where its objects come to lie.</remarks>
    private protected void WatchLimits()
    {
        Options.Watcher = this;
        if (Options.MaxConnections is not null)
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
        Core.Endpoints.MaxConnections = Options.MaxConnections ?? 0;
        foreach (PeerLink link in Core.Links)
        {
            link.SetLimits(Options.SendLimits, Options.ReceiveLimits);
        }
    }

    private ZmpSettings Snapshot(string endpoint, byte[]? alias)
    {
        int shards = Context.Options.ShardCount;
        ulong affinity = Options.ShardAffinity;
        if (affinity != 0 && shards < 64 && affinity >> shards << shards == affinity
            && !endpoint.StartsWith("inproc:", StringComparison.Ordinal))
        {
            throw new ZlinkException(ZlinkError.NoThread,
                $"ShardAffinity allows none of the context's {shards} shards; use a mask of their numbers, or 0 for all");
        }

        return Options.Snapshot(Core.Type, alias);
    }

    private protected override void BeginClose(DisconnectReason reason, TimeSpan linger)
    {
        bool local = reason == DisconnectReason.Local;
        string name = GetType().FullName!;
        Core.Close(
            reason,
            linger,
            local
                ? new SocketEnd(Engine.SendStatus.Closed, () => new ObjectDisposedException(name))
                : new SocketEnd(Engine.SendStatus.Terminated,
                    static () => new ZlinkException(ZlinkError.ContextTerminated, "the context was shut down")));
        if (local)
        {
            _ = ForgetWhenClosedAsync();
        }
    }

    private async Task ForgetWhenClosedAsync()
    {
        await Core.AllClosed.ConfigureAwait(false);
        Context.Forget(this);
    }

    private void Remove(string endpoint)
    {
        ArgumentNullException.ThrowIfNull(endpoint);
        ThrowIfEnded();
        if (!Core.Endpoints.Remove(endpoint, Options.LingerTime))
        {
            throw NotThere(endpoint,
                "is neither bound nor connected; use the text given to Bind or Connect, or the one that Bind returned");
        }
    }

    private static ZlinkException NotThere(string endpoint, string what) => EndpointText.TryParse(endpoint, out _, out EndpointError error)
        ? new ZlinkException(ZlinkError.NotFound, $"{EndpointError.Quote(endpoint)} {what}")
        : ZlinkException.ForEndpoint(endpoint, error);
}
