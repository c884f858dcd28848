using System.IO.Pipelines;
using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Sockets;
using Net.Zlink.Sockets.Endpoints;
using Net.Zlink.Sockets.Links;
using Net.Zlink.Transports;
using Net.Zlink.Transports.Pipes;

namespace Net.Zlink;

/// <summary>STREAM: exchanges length-prefixed frames with any number of peers (docs/protocol.md section 1).</summary>
/// <remarks>
/// <para>
/// Thread-safe. An endpoint is consumed by receive calls, a <see cref="StreamHandler"/> or a <see cref="StreamPipe"/>.
/// </para>
/// <para>
/// Sends copy, except where memory is transferred. Accepted payloads are written in order for each peer. What a lost connection left
/// unwritten is counted (<see cref="ZlinkSocket.GetStatistics"/>) and reported by an event.
/// </para>
/// </remarks>
/// <example>
/// <code>
/// StreamSocket server = context.CreateStream();
/// server.Bind("tcp://127.0.0.1:5557");
/// using StreamMessage message = await server.ReceiveAsync();
/// if (message.Kind == StreamMessageKind.Data)
/// {
///     await server.To(message.PeerId).SendAsync(message.Payload);
/// }
/// </code>
/// </example>
public sealed class StreamSocket : ZlinkSocket
{
    private readonly MessageReceiver<StreamMessage, StreamSource> _receiver;
    private readonly StreamSender _sender;

    internal StreamSocket(EngineHost host, StreamOptions options)
        : base(new StreamHub(host, SocketQuota.Of(options.TotalReceiveByteLimit ?? 0)), options)
    {
        _receiver = new(new StreamSource(Hub), Hub.Receive, options.AllowSynchronousContinuations);
        _sender = new StreamSender(Hub, options);
    }

    /// <summary>The options. Changes apply to endpoints made afterwards.</summary>
    public new StreamOptions Options => (StreamOptions)base.Options;

    internal override EndpointStatus[] Endpoints => Hub.Endpoints;

    internal StreamHub Hub => (StreamHub)Core;

    /// <summary>Listens. Frames of accepted peers are received from this socket.</summary>
    /// <param name="endpoint">
    /// tcp://host:port: host is an address, a name, an interface or *; port 0 or * takes a free one. ipc://path: at most 107 bytes,
    /// relative or absolute, for this user only. ipc://@name: Linux, no file, for any user. ipc://*: a new file in the temporary directory.
    /// tls://host:port, ws://host:port/path, wss://host:port/path: tls and wss need a certificate in <see cref="SocketOptions.Tls"/>.
    /// </param>
    /// <returns>The endpoint with the real port and numeric address. ws and wss keep the host; ipc://* gets the new path.</returns>
    /// <exception cref="ZlinkException">
    /// InvalidArgument, ProtocolNotSupported, NoDevice, AddressInUse, TooManySockets; for ipc also NotFound, NotADirectory, NameTooLong or
    /// PermissionDenied. The message says what to do. ContextTerminated.
    /// </exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    public override string Bind(string endpoint) => Bind(endpoint, Pull);

    /// <inheritdoc cref="Bind(string)"/>
    /// <summary>Listens. Frames of accepted peers go to <paramref name="handler"/>.</summary>
    /// <param name="endpoint">The endpoint.</param>
    /// <param name="handler">Called on each peer's shard.</param>
    public string Bind(string endpoint, StreamHandler handler)
    {
        ArgumentNullException.ThrowIfNull(handler);
        return Bind(endpoint, PushedTo(handler));
    }

    /// <inheritdoc cref="Bind(string)"/>
    /// <summary>Listens. Each accepted peer is passed to <paramref name="handler"/> as a pipe of bytes, without frames.</summary>
    /// <param name="endpoint">The endpoint.</param>
    /// <param name="handler">
    /// Called on the thread pool, once per peer. When its task completes, the connection is closed in order. A failed task raises an event,
    /// unless it failed with its pipe's own exception. The end of the socket and the context waits for the task. So a handler must not
    /// await the context's end: it would wait until <see cref="ZlinkContextOptions.ShutdownTimeout"/>.
    /// </param>
    public string BindPipe(string endpoint, Func<StreamPipe, Task> handler)
    {
        ArgumentNullException.ThrowIfNull(handler);
        return Bind(endpoint, (link, wire, settings) =>
        {
            Connection connection = StreamPipe.Open(Hub, link, wire, settings, out StreamPipe pipe);
            pipe.Handle(Hub, handler);
            return connection;
        });
    }

    /// <inheritdoc cref="ZlinkSocket.AcceptAsync"/>
    /// <summary>Accepts a connection that the application brings. Its frames go to <paramref name="handler"/>.</summary>
    /// <param name="pipe">Belongs to the socket from here on.</param>
    /// <param name="handler">Called on the peer's shard.</param>
    /// <param name="peer">What is known of the peer. Null: nothing.</param>
    /// <param name="cancellationToken">Ends the connection.</param>
    public Task<DisconnectReason> AcceptAsync(
        IDuplexPipe pipe, StreamHandler handler, PeerDetails? peer = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(pipe);
        ArgumentNullException.ThrowIfNull(handler);
        ThrowIfEnded();
        var connection = new PipeListener(pipe, peer ?? PeerDetails.None);
        return WaitForEndAsync(connection, Accept(connection, PushedTo(handler)), cancellationToken);
    }

    /// <inheritdoc/>
    public override void Unbind(string endpoint, bool keepPeers = false)
    {
        CheckEndpoint(endpoint);
        if (!TransportTable.TryParseWire(endpoint, EndpointUse.Bind, out _, out EndpointError error))
        {
            throw ZlinkException.ForEndpoint(endpoint, error);
        }

        if (!Hub.Table.Unbind(endpoint, keepsPeers: keepPeers))
        {
            throw new ZlinkException(ZlinkError.NotFound,
                $"{RedactedEndpoint.Quote(endpoint)} is not bound; use the text given to Bind or the one it returned");
        }
    }

    /// <summary>Connects to a peer whose frames are received from this socket. It does not reconnect after a loss.</summary>
    /// <param name="endpoint">
    /// tcp://host:port, tcp://source:port;host:port, ipc://path, ipc://@name (Linux), tls://host:port, ws://host:port/path or
    /// wss://host:port/path.
    /// </param>
    /// <param name="cancellationToken">Cancels the attempt.</param>
    /// <returns>The new peer's id. The task completes on the thread pool when the connection is ready.</returns>
    /// <exception cref="ZlinkException">
    /// InvalidArgument, ProtocolNotSupported, NoDevice, ConnectionRefused, TimedOut, TooManySockets or others; the message says what to do.
    /// ContextTerminated.
    /// </exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    public ValueTask<uint> ConnectAsync(string endpoint, CancellationToken cancellationToken = default) =>
        ConnectAsync(endpoint, new StreamConnectOptions(), cancellationToken);

    /// <inheritdoc cref="ConnectAsync(string, CancellationToken)"/>
    /// <summary>Connects to a peer. The options may ask for reconnects.</summary>
    /// <param name="endpoint">The endpoint.</param>
    /// <param name="options">
    /// How the peer is consumed, and whether it is reconnected after a loss. The first attempt is always a single one.
    /// </param>
    /// <param name="cancellationToken">Cancels the wait. Nothing is sent then.</param>
    /// <returns>The new peer's id. Each reconnect makes another peer with a new id.</returns>
    public ValueTask<uint> ConnectAsync(string endpoint, StreamConnectOptions options, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(options);
        PeerFactory factory = options.Handler is null ? Pull : PushedTo(options.Handler);
        ReconnectPolicy? policy = options.ValidPolicy();
        return ConnectAsync(endpoint, factory, policy, cancellationToken);
    }

    /// <inheritdoc cref="ConnectAsync(string, CancellationToken)"/>
    /// <summary>Connects to a peer and returns its bytes as a pipe, without frames.</summary>
    /// <returns>The pipe. Dispose it to end the connection.</returns>
    public async ValueTask<StreamPipe> ConnectPipeAsync(string endpoint, CancellationToken cancellationToken = default)
    {
        StreamPipe? pipe = null;
        await ConnectAsync(
            endpoint, (link, wire, settings) => StreamPipe.Open(Hub, link, wire, settings, out pipe), reconnect: null, cancellationToken)
            .ConfigureAwait(false);
        return pipe!;
    }

    /// <inheritdoc cref="IMessageReceiver.TryReceive"/>
    public bool TryReceive(out StreamMessage message, TimeSpan timeout = default) =>
        _receiver.TryReceive(OptionRange.Time(timeout, mayBeInfinite: true), out message);

    /// <inheritdoc cref="IMessageReceiver.Receive"/>
    public StreamMessage Receive(TimeSpan? timeout = null) =>
        _receiver.Receive(OptionRange.WaitTime(timeout) ?? Options.ReceiveTimeout);

    /// <summary>Waits for the next message. Several calls may wait; they are served in order.</summary>
    /// <param name="cancellationToken">Cancels the wait. No message is lost.</param>
    /// <returns>The message. Dispose it. Allocates nothing.</returns>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    public ValueTask<StreamMessage> ReceiveAsync(CancellationToken cancellationToken = default) =>
        _receiver.ReceiveAsync(cancellationToken);

    /// <summary>Takes as many messages as there are and fit, without waiting.</summary>
    /// <param name="messages">Receives the messages. Dispose each.</param>
    /// <returns>How many. 0 if there is none.</returns>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    public int ReceiveMany(Span<StreamMessage> messages) => _receiver.ReceiveMany(messages);

    /// <summary>Waits for a message, then takes as many as there are and fit.</summary>
    /// <param name="messages">Receives the messages; not empty. Dispose each.</param>
    /// <param name="cancellationToken">Cancels the wait. No message is lost.</param>
    /// <returns>How many, at least 1.</returns>
    /// <exception cref="ArgumentException"><paramref name="messages"/> is empty.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    public ValueTask<int> ReceiveManyAsync(Memory<StreamMessage> messages, CancellationToken cancellationToken = default) =>
        _receiver.ReceiveManyAsync(messages, cancellationToken);

    /// <summary>Enumerates all messages until the socket or the context is disposed.</summary>
    /// <param name="cancellationToken">Ends the enumeration with an exception. No message is lost.</param>
    /// <returns>The messages. Dispose each.</returns>
    public IAsyncEnumerable<StreamMessage> ReceiveAllAsync(CancellationToken cancellationToken = default) =>
        _receiver.ReceiveAllAsync(cancellationToken);

    /// <summary>One peer. Its messages have one part; the reason of a send that failed is in the result.</summary>
    /// <param name="peerId">The peer's number, as in <see cref="StreamMessage.PeerId"/>.</param>
    /// <returns>What sends to it. After the end of the connection or of the socket the answer is
    /// <see cref="SendFailure.NoPeer"/>.</returns>
    public PeerSender To(uint peerId) =>
        new(Hub.TryFind(peerId, out StreamLink link) ? _sender.PeerOf(link) : new StreamPeer(_sender, StreamLink.Unknown(peerId)));

    /// <summary>Forwards received messages without waiting. Accepted ones are ended; the others still belong to the caller.</summary>
    /// <remarks>
    /// Cheapest for messages as <see cref="ReceiveMany"/> returned them: a burst of one peer is queued and ended in few steps. Forwarded
    /// messages keep their receive buffers until they are written.
    /// </remarks>
    /// <param name="peerId">The receiving peer.</param>
    /// <param name="messages">Payloads of any peers, without events.</param>
    /// <returns>How many were accepted, from the first on. Fewer than all if the peer has no capacity or has disconnected.</returns>
    /// <exception cref="ArgumentException">A message is an event. Those before it were sent.</exception>
    /// <exception cref="ObjectDisposedException">
    /// A message is disposed. Those before it were sent, but none of a run that was read together.
    /// </exception>
    public int SendMany(uint peerId, ReadOnlySpan<StreamMessage> messages) => _sender.SendMany(peerId, messages);

    /// <summary>Forwards received messages, and waits until all are accepted. Accepted ones are ended.</summary>
    /// <param name="peerId">The receiving peer.</param>
    /// <param name="messages">Payloads of any peers, without events. They must not change or be disposed until the task completes.</param>
    /// <param name="cancellationToken">Cancels the wait.</param>
    /// <returns>
    /// How many were accepted, from the first on. Fewer than all only if the wait ended after the first one; the next call then fails with
    /// the reason. Allocates nothing.
    /// </returns>
    /// <exception cref="ZlinkException">
    /// HostUnreachable: the peer, or the socket, has ended. NotSupported: the peer is a pipe. Nothing was sent.
    /// </exception>
    /// <exception cref="OperationCanceledException">The token was cancelled. Nothing was sent.</exception>
    /// <exception cref="ArgumentException">A message is an event. Those before it were sent.</exception>
    /// <exception cref="ObjectDisposedException">
    /// A message is disposed. Those before it were sent, but perhaps none of a run that was read together.
    /// </exception>
    public ValueTask<int> SendManyAsync(uint peerId, ReadOnlyMemory<StreamMessage> messages,
        CancellationToken cancellationToken = default) => _sender.SendManyAsync(peerId, messages, cancellationToken);

    /// <summary>Sends one payload to many peers, encoded once, without waiting. Skips peers that are full or have disconnected.</summary>
    /// <param name="peerIds">The peers.</param>
    /// <param name="payload">The payload, which is copied once. It may be empty; a null array counts as empty.</param>
    /// <returns>How many peers accepted it.</returns>
    /// <exception cref="ArgumentException">The payload is longer than a frame can be.</exception>
    public int Broadcast(ReadOnlySpan<uint> peerIds, ReadOnlySpan<byte> payload) => _sender.Broadcast(peerIds, payload);

    /// <summary>Disconnects a peer. Its unread messages are dropped.</summary>
    /// <param name="peerId">The peer.</param>
    /// <param name="abort">
    /// False: accepted payloads are still written within <see cref="SocketOptions.Linger"/>, by default without limit. Until then a peer
    /// that does not read keeps its connection and counts for <see cref="SocketOptions.MaxConnections"/>. True: the connection ends at
    /// once, and unwritten payloads are dropped and counted.
    /// </param>
    /// <returns>False if there is no such peer.</returns>
    public bool Disconnect(uint peerId, bool abort = false) => Hub.Disconnect(peerId, abort ? CloseMode.Abort : CloseMode.Orderly);

    /// <summary>Ends the connects of an endpoint, with their attempts, and disconnects its peers in order.</summary>
    /// <param name="endpoint">The text given to ConnectAsync. Every connect of that text is ended.</param>
    /// <exception cref="ArgumentNullException"><paramref name="endpoint"/> is null.</exception>
    /// <exception cref="ZlinkException">
    /// NotFound: there is no such endpoint, or it was lost and is not reconnected. ContextTerminated.
    /// </exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    public override void Disconnect(string endpoint)
    {
        CheckEndpoint(endpoint);
        if (!Hub.Table.Disconnect(endpoint))
        {
            throw new ZlinkException(ZlinkError.NotFound,
                $"{RedactedEndpoint.Quote(endpoint)} is not connected; use the text given to ConnectAsync");
        }
    }

    /// <summary>Finds a peer by its id.</summary>
    /// <param name="peerId">The id.</param>
    /// <param name="peer">The peer.</param>
    /// <returns>False if there is none, or it has disconnected.</returns>
    public bool TryGetPeer(uint peerId, [System.Diagnostics.CodeAnalysis.NotNullWhen(true)] out StreamPeer? peer)
    {
        peer = Hub.TryFind(peerId, out StreamLink link) ? _sender.PeerOf(link) : null;
        return peer is not null;
    }

    /// <summary>Returns the peers that can be sent to now, in no particular order.</summary>
    /// <returns>A snapshot.</returns>
    public IReadOnlyList<StreamPeer> GetPeers() => [.. Hub.Peers.Select(_sender.PeerOf)];

    internal override IEnumerable<string> DescribePeers() => GetPeers().Select(static peer => peer.Describe());

    private protected override void Close(TimeSpan linger, SocketEnd end) => Hub.Close(linger, end);

    private protected override BoundListener Accept(PipeListener connection) => Accept(connection, Pull);

    private BoundListener Accept(PipeListener connection, PeerFactory factory) =>
        Hub.Table.Accept(connection, new StreamAcceptor(Hub, Options.Snapshot(), factory));

    private Connection Pull(StreamLink link, Wire wire, StreamSettings settings) =>
        Hub.Frame(link, wire, settings, new PullSink(Hub, link, settings.Inbound));

    private PeerFactory PushedTo(StreamHandler handler) => (link, wire, settings) =>
        Hub.Frame(link, wire, settings, new StreamPushSink(Hub, handler, _sender.PeerOf(link), link));

    private string Bind(string endpoint, PeerFactory factory)
    {
        CheckEndpoint(endpoint);
        StreamSettings settings = Options.Snapshot();
        string resolved = "";
        EndpointError error;
        error = TransportTable.TryParseWire(endpoint, EndpointUse.Bind, out WireEndpoint target, out error)
            ? Hub.Table.Bind(target, settings.Transport, new StreamAcceptor(Hub, settings, factory), out resolved)
            : EndpointEvents.BindFailed(Hub.Monitors, endpoint, error);
        return Bound(endpoint, error, resolved);
    }

    private async ValueTask<uint> ConnectAsync(
        string endpoint, PeerFactory factory, ReconnectPolicy? reconnect, CancellationToken cancellationToken)
    {
        CheckEndpoint(endpoint);
        if (!TransportTable.TryParseWire(endpoint, EndpointUse.Connect, out WireEndpoint target, out EndpointError error))
        {
            throw ZlinkException.ForEndpoint(endpoint, error);
        }

        var connecter = new StreamConnecter(Hub, target, Options.Snapshot(), factory, reconnect);
        uint id = await connecter.ConnectAsync(cancellationToken).ConfigureAwait(false);
        if (id == 0)
        {
            cancellationToken.ThrowIfCancellationRequested();
            ThrowIfEnded();
            throw ZlinkException.ForDial(endpoint, connecter.Failure);
        }

        SetLastEndpoint(endpoint);
        return id;
    }
}
