using Net.Zlink.Sockets.Endpoints;
using Net.Zlink.Sockets.Links;
using Net.Zlink.Sockets.Zmp;
using Net.Zlink.Transports;
using Net.Zlink.Transports.Pipes;

namespace Net.Zlink;

/// <summary>
/// The members of all ZMP sockets, which are all but STREAM. They connect and reconnect in the background, and their messages have parts.
/// </summary>
/// <remarks>Thread-safe.</remarks>
public abstract class ZmpSocket : ZlinkSocket
{
    private protected ZmpSocket(ZmpEndpoints endpoints, ZmpSocketOptions options)
        : base(endpoints.Socket, options)
    {
        ZmpEndpoints = endpoints;
        Sender = new MessageSender(endpoints, options);
    }

    /// <summary>The options. Each option says when a change takes effect.</summary>
    public new ZmpSocketOptions Options => (ZmpSocketOptions)base.Options;

    internal new SocketCore Core => (SocketCore)base.Core;

    internal ZmpEndpoints ZmpEndpoints { get; }

    internal readonly MessageSender Sender;

    internal override EndpointStatus[] Endpoints => ZmpEndpoints.All;

    /// <inheritdoc/>
    public override string Bind(string endpoint)
    {
        CheckEndpoint(endpoint);
        EndpointError error = ZmpEndpoints.Bind(endpoint, Snapshot(endpoint, alias: null), out string resolved);
        return Bound(endpoint, error, resolved);
    }

    /// <summary>
    /// Connects to a peer in the background. Returns at once, retries until it succeeds, and reconnects after a loss. A text that is
    /// connected, or was returned by this socket's Bind, stays as it is. Inproc: each call makes a link.
    /// </summary>
    /// <remarks>
    /// <para>
    /// The event ConnectRetried, the log, <see cref="GetPeers"/> and <see cref="ZlinkSocket.Describe"/> report why an attempt failed.
    /// </para>
    /// <para>
    /// As in the native core, a protocol fault ends the endpoint for good: another protocol, a socket type that does not fit, or a message
    /// over either side's MaxMessageSize (docs/protocol.md section 13). The event ConnectGivenUp and a warning report it. Connect again
    /// after its cause is removed, or set <see cref="ZmpSocketOptions.ReconnectAfterFault"/> before.
    /// </para>
    /// </remarks>
    /// <param name="endpoint">
    /// tcp://host:port, tcp://source:port;host:port, ipc://path, ipc://@name, inproc://name, tls://host:port, ws://host:port/path, or
    /// wss://host:port/path.
    /// </param>
    /// <exception cref="ArgumentNullException"><paramref name="endpoint"/> is null.</exception>
    /// <exception cref="ZlinkException">
    /// InvalidArgument, ProtocolNotSupported, NotCompatible, NoThread; the message says what to do. ContextTerminated.
    /// </exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    public void Connect(string endpoint) => ConnectAs(endpoint, alias: null);

    /// <inheritdoc/>
    public override void Unbind(string endpoint, bool keepPeers = false)
    {
        if (!keepPeers)
        {
            Remove(endpoint);
            return;
        }

        CheckEndpoint(endpoint);
        if (!ZmpEndpoints.StopListening(endpoint))
        {
            throw NotThere(endpoint, "is not bound; use the text given to Bind, or the one that it returned");
        }
    }

    /// <inheritdoc/>
    public override void Disconnect(string endpoint) => Remove(endpoint);

    /// <summary>
    /// Disconnects a peer that this socket accepted. Its unread messages are dropped. The event Disconnected is not raised.
    /// </summary>
    /// <remarks>
    /// The peer will reconnect, unless it is connected by inproc. <see cref="TlsOptions.Validation"/> and
    /// <see cref="WebSocketTransportOptions.Admission"/> reject peers for good.
    /// </remarks>
    /// <param name="peer">A peer from <see cref="GetPeers"/>.</param>
    /// <param name="abort">
    /// False: queued messages are still written, within the shorter of <see cref="SocketOptions.CloseTimeout"/> and
    /// <see cref="SocketOptions.Linger"/>. True: the connection ends at once, and they are dropped and counted. By inproc they are with
    /// the peer already and stay there.
    /// </param>
    /// <returns>False: it has disconnected already, perhaps to connect again.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="peer"/> is null.</exception>
    /// <exception cref="ArgumentException">
    /// It is another socket's peer, or this socket connects to it: <see cref="Disconnect(string)"/> ends that.
    /// </exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    public bool Disconnect(PeerInfo peer, bool abort = false)
    {
        ArgumentNullException.ThrowIfNull(peer);
        ThrowIfEnded();
        return EndPeer(peer.Of.Link, peer.Of.Peer, abort, nameof(peer));
    }

    /// <summary>
    /// Returns the peers, and the connected endpoints without a peer, with the reason in <see cref="PeerInfo.WhyNotConnected"/>.
    /// </summary>
    /// <returns>A snapshot.</returns>
    public IReadOnlyList<PeerInfo> GetPeers() =>
        [.. Core.Links.Select(PeerInfo.For), .. ZmpEndpoints.WithoutLink.Select(PeerInfo.For)];

    internal override bool Recheck() => new ZmpSource(ZmpEndpoints).Recheck();

    internal override IEnumerable<string> DescribeProblems() => base.DescribeProblems().Concat(Core.GivenUp.All.Select(static one =>
        $"given up: {one.Endpoint}: {one.Why}; no further attempt is made; fix the cause, then connect again"));

    internal override IEnumerable<string> DescribePeers() => GetPeers().Select(static peer => peer.ToString());

    private protected void ConnectAs(string endpoint, byte[]? alias)
    {
        CheckEndpoint(endpoint);
        EndpointError error = ZmpEndpoints.Connect(endpoint, Snapshot(endpoint, alias), out bool wasThere);
        if (error.Code != ZlinkError.None)
        {
            throw ZlinkException.ForEndpoint(endpoint, error);
        }

        if (!wasThere)
        {
            SetLastEndpoint(endpoint);
        }
    }

    private protected bool EndPeer(PeerLink? link, PeerIdentity peer, bool abort, string argument) =>
        link is null || !ReferenceEquals(link.Socket, Core) ? throw new ArgumentException("The peer belongs to another socket.", argument)
        : link.IsActive
            ? throw new ArgumentException($"This socket dialled that peer: Disconnect(\"{link.Endpoint}\") ends it.", argument)
        : Core.DisconnectPeer(link, peer, abort ? null
            : Options.ShortLinger);

    internal override void Start()
    {
        Options.Changed = OnOptionChanged;
        ApplyOptions();
    }

    private void OnOptionChanged()
    {
        ApplyOptions();
        Core.BlockedSends.RetryAll();
        Core.WritableWatchers.NotifyFenced();
    }

    private protected virtual void ApplyOptions()
    {
        Core.Connections.Limit = Options.MaxConnections ?? 0;
        foreach (PeerLink link in Core.Links)
        {
            link.SetLimits(Options.SendLimits, Options.ReceiveLimits);
        }
    }

    private protected override BoundListener Accept(PipeListener connection) =>
        Core.Table.Accept(connection, new ZmpAcceptor(Core, Snapshot(connection.Endpoint, alias: null)));

    private ZmpSettings Snapshot(string endpoint, byte[]? alias)
    {
        int shards = Core.Host.Shards.Count;
        ulong affinity = Options.ShardAffinity;
        if (affinity != 0 && shards < 64 && affinity >> shards << shards == affinity
            && !endpoint.StartsWith("inproc:", StringComparison.Ordinal))
        {
            throw new ZlinkException(ZlinkError.NoThread,
                $"ShardAffinity allows none of the context's {shards} shards; use a mask of their numbers, or 0 for all");
        }

        return Options.Snapshot(Core.Type, alias);
    }

    private protected override void Close(TimeSpan linger, SocketEnd end) => ZmpEndpoints.Close(linger, end);

    private void Remove(string endpoint)
    {
        CheckEndpoint(endpoint);
        if (!ZmpEndpoints.Remove(endpoint, Options.LingerTime))
        {
            throw NotThere(endpoint,
                "is neither bound nor connected; use the text given to Bind or Connect, or the one that Bind returned");
        }
    }

    private static ZlinkException NotThere(string endpoint, string what) =>
        TransportTable.TrySplit(endpoint, out _, out EndpointError error)
        ? new ZlinkException(ZlinkError.NotFound, $"{RedactedEndpoint.Quote(endpoint)} {what}")
        : ZlinkException.ForEndpoint(endpoint, error);
}
