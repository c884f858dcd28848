using System.IO.Pipelines;
using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Sockets.Endpoints;
using Net.Zlink.Sockets.Links;
using Net.Zlink.Transports;
using Net.Zlink.Transports.Pipes;

namespace Net.Zlink;

/// <summary>The members of all sockets: endpoints, options, events, and the end.</summary>
/// <remarks>Thread-safe.</remarks>
public abstract class ZlinkSocket : IDisposable, IAsyncDisposable
{
    private string _lastEndpoint = "";

    private protected ZlinkSocket(SocketBase core, SocketOptions options) => (Core, Options) = (core, options);

    /// <summary>The options. Each option says when a change takes effect.</summary>
    public SocketOptions Options { get; }

    /// <summary>
    /// The resolved endpoint of the last successful bind, or the text of the last successful connect of a new endpoint. Empty before.
    /// </summary>
    public string LastEndpoint => Volatile.Read(ref _lastEndpoint);

    /// <summary>The bound endpoints, resolved: a snapshot, in no particular order.</summary>
    public IReadOnlyList<string> BoundEndpoints => EndpointStatus.TextsOf(Endpoints, areBound: true);

    /// <summary>
    /// The texts of all connected endpoints as they were given, also of those without a connection: a snapshot. Inproc: one for each
    /// connect. Disconnect takes these texts. Of ws and wss they have the query, which may be secret and is "?…" in all other places:
    /// events, logs, exceptions, descriptions, <see cref="PeerInfo.Endpoint"/>.
    /// </summary>
    public IReadOnlyList<string> ConnectedEndpoints => EndpointStatus.TextsOf(Endpoints, areBound: false);

    /// <summary>The number of peers. ZMP: links to peers, also to those that are not connected yet. STREAM: peers that can be sent to
    /// now.</summary>
    public int PeerCount => Core.PeerCount;

    /// <summary>A message can be received now.</summary>
    public bool CanReceive => Queue.IsReadable;

    /// <summary>
    /// A send would not wait now, as far as that is known without a peer. Always true for STREAM, where capacity is a matter of each peer,
    /// and, as in the native core, for PUB, XPUB, and ROUTER without Mandatory. With Mandatory, true while any peer has capacity.
    /// </summary>
    public bool CanSend => Core.CanSend;

    internal SocketBase Core { get; }

    internal EngineHost Host => Core.Host;

    internal SocketMonitors Monitors => Core.Monitors;

    internal SocketCounters Counters => Core.Counters;

    internal ReceiveQueue Queue => Core.Receive;

    internal CloseTracker Parts => Core.Parts;

    internal abstract EndpointStatus[] Endpoints { get; }

    /// <summary>Listens for peers.</summary>
    /// <param name="endpoint">
    /// tcp://host:port (host is an address, a name, an interface or *; port 0 or * takes a free one), ipc://path, ipc://@name, ipc://*,
    /// inproc://name, tls://host:port, ws://host:port/path, or wss://host:port/path. tls and wss need a certificate in
    /// <see cref="SocketOptions.Tls"/>.
    /// </param>
    /// <returns>The endpoint with the real port and numeric address, or path. ws and wss keep the host.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="endpoint"/> is null.</exception>
    /// <exception cref="ZlinkException">
    /// InvalidArgument, ProtocolNotSupported, NoDevice, AddressInUse, TooManySockets, NoThread or others; the message says what to do.
    /// ContextTerminated.
    /// </exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    public abstract string Bind(string endpoint);

    /// <summary>
    /// Accepts a connection that the application brings, such as a WebSocket of its web server, as if a peer had connected to a bound
    /// endpoint. Its bytes are those of a tcp connection (docs/protocol.md). Limits, heartbeats, events and statistics are the same.
    /// </summary>
    /// <remarks>
    /// The socket reads and writes the pipe on the thread pool, one call at a time, and completes both of its ends. A pipe whose writer
    /// waits holds back this socket's sends; a socket that does not receive leaves the pipe unread.
    /// </remarks>
    /// <param name="pipe">Belongs to the socket from here on.</param>
    /// <param name="peer">What is known of the peer. Null: nothing.</param>
    /// <param name="cancellationToken">
    /// Ends the connection as an Unbind does: accepted messages are still written, within the shorter of <see cref="SocketOptions.Linger"/>
    /// and <see cref="SocketOptions.CloseTimeout"/>. The task then completes as usual.
    /// </param>
    /// <returns>
    /// Completes on the thread pool when the connection has ended and the pipe is completed. The result is the reason. Refused: the socket
    /// has no place for the peer (<see cref="SocketOptions.MaxConnections"/>, a PAIR), or was closed meanwhile.
    /// </returns>
    /// <exception cref="ArgumentNullException"><paramref name="pipe"/> is null.</exception>
    /// <exception cref="ZlinkException">NoThread: as for Bind. ContextTerminated. The pipe still belongs to the caller.</exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed. The pipe still belongs to the caller.</exception>
    public Task<DisconnectReason> AcceptAsync(IDuplexPipe pipe, PeerDetails? peer = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(pipe);
        ThrowIfEnded();
        var connection = new PipeListener(pipe, peer ?? PeerDetails.None);
        return WaitForEndAsync(connection, Accept(connection), cancellationToken);
    }

    /// <summary>Stops listening at an endpoint and disconnects the peers that it accepted, or keeps them.</summary>
    /// <remarks>
    /// Unread messages can still be received; a PAIR accepts the next peer after that. Inproc peers always stay; only the name is unbound.
    /// </remarks>
    /// <param name="endpoint">The text given to Bind, or returned by it.</param>
    /// <param name="keepPeers">
    /// True: the endpoint's peers stay, for a server that drains. They end with the socket, or one by one. The address is free afterwards,
    /// and peers in a TLS or WebSocket handshake are rejected.
    /// </param>
    /// <exception cref="ArgumentNullException"><paramref name="endpoint"/> is null.</exception>
    /// <exception cref="ZlinkException">
    /// NotFound: there is no such endpoint. InvalidArgument, ProtocolNotSupported: there cannot be one. ContextTerminated.
    /// </exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    public abstract void Unbind(string endpoint, bool keepPeers = false);

    /// <summary>
    /// Ends the connection of a Connect or ConnectAsync. Accepted messages are delivered within <see cref="SocketOptions.Linger"/>; unread
    /// ones are dropped.
    /// </summary>
    /// <param name="endpoint">The text given to Connect. For a numeric tcp or tls address also a name of it.</param>
    /// <exception cref="ArgumentNullException"><paramref name="endpoint"/> is null.</exception>
    /// <exception cref="ZlinkException">NotFound: there is no such endpoint. ContextTerminated.</exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    public abstract void Disconnect(string endpoint);

    /// <summary>Subscribes to this socket's events. The subscription begins with this call, before the first event is awaited.</summary>
    /// <remarks>
    /// <para>
    /// Up to 4,096 events wait for the reader, so a slow reader delays no connection. Then the oldest are dropped, and the event
    /// <see cref="SocketEventTypes.EventsDropped"/> is read in their place, with any mask.
    /// </para>
    /// <para>
    /// The events can be enumerated once. They end with the token, with the enumeration, or with the socket: after
    /// <see cref="SocketEventTypes.MonitorStopped"/>. Any number of subscriptions may be open.
    /// </para>
    /// </remarks>
    /// <param name="mask">The events.</param>
    /// <param name="cancellationToken">Ends the subscription, and the enumeration with an OperationCanceledException.</param>
    /// <returns>The events in order. A wait for the next one is completed on the thread pool.</returns>
    public IAsyncEnumerable<SocketEvent> MonitorAsync(
        SocketEventTypes mask = SocketEventTypes.All, CancellationToken cancellationToken = default) =>
        Monitors.Open(mask, cancellationToken);

    /// <summary>Returns the statistics of this socket.</summary>
    /// <returns>A snapshot.</returns>
    public SocketStatistics GetStatistics()
    {
        var statistics = new SocketStatistics();
        statistics.Add(Counters, PeerCount);
        return statistics;
    }

    /// <summary>Describes endpoints, counts and peers in several lines, for a log or a debugger. The format may change.</summary>
    /// <returns>The text.</returns>
    public string Describe() => SocketDescription.Of(this);

    /// <summary>
    /// Closes the socket and returns at once. Nothing more is accepted or received. Accepted messages are written in the background for at
    /// most <see cref="SocketOptions.Linger"/>, and the context's shutdown waits for that. Idempotent.
    /// </summary>
    public void Dispose()
    {
        BeginClose(DisconnectReason.Local);
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

    internal void ThrowIfEnded()
    {
        if (Core.IsClosed)
        {
            throw Core.End.Error();
        }
    }

    /// <summary>Follows its options from here on.</summary>
    internal virtual void Start()
    {
    }

    internal void BeginClose(DisconnectReason reason)
    {
        string name = GetType().FullName!;
        Close(Options.LingerTime, new SocketEnd(reason, reason == DisconnectReason.Local ? () => new ObjectDisposedException(name)
            : static () => new ZlinkException(ZlinkError.ContextTerminated, "the context was shut down")));
    }

    /// <summary>Looks once more before a poll blocks.</summary>
    internal virtual bool Recheck() => false;

    internal virtual IEnumerable<string> DescribeProblems() => Endpoints.Where(static one => one.Problem is not null)
        .Select(static one => $"{new RedactedEndpoint(one.Text)}: {one.Problem}");

    internal abstract IEnumerable<string> DescribePeers();

    private protected abstract BoundListener Accept(PipeListener connection);

    private protected abstract void Close(TimeSpan linger, SocketEnd end);

    private protected void CheckEndpoint(string endpoint)
    {
        ArgumentNullException.ThrowIfNull(endpoint);
        ThrowIfEnded();
    }

    private protected string Bound(string endpoint, in EndpointError error, string resolved)
    {
        if (error.Code != ZlinkError.None)
        {
            throw ZlinkException.ForEndpoint(endpoint, error);
        }

        ThrowIfEnded(); // Closed during the bind: nothing is bound then.
        SetLastEndpoint(resolved);
        return resolved;
    }

    private protected async Task<DisconnectReason> WaitForEndAsync(
        PipeListener connection, BoundListener listener, CancellationToken cancellation)
    {
        CancellationTokenRegistration registration = cancellation.UnsafeRegister(
            _ => listener.Unbind(Options.ShortLinger, keepsPeers: false), state: null);
        DisconnectReason reason = await connection.WaitForEndAsync().ConfigureAwait(false);
        registration.Unregister();
        return reason;
    }

    private protected void SetLastEndpoint(string endpoint) => Volatile.Write(ref _lastEndpoint, endpoint);
}
