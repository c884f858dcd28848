using System.Buffers;
using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Sockets;
using Net.Zlink.Transports;

namespace Net.Zlink;

/// <summary>Talks to any number of peers in length-prefixed frames (docs/protocol.md section 1): a server when bound, a client when
/// connected, both at once if wanted. Each endpoint is consumed in one of three ways: pulled (one fair receive queue of the socket), pushed
/// (a <see cref="StreamHandler"/>), or as raw bytes (a <see cref="StreamPipe"/>).</summary>
/// <remarks>Safe for any number of threads. Sending copies, except where a buffer is handed over. What Send accepted is written in order,
/// per peer; what a lost connection kept from being written is counted (<see cref="GetStatistics"/>) and reported by an event.</remarks>
public sealed class StreamSocket : ZlinkSocket, IContextSocket
{
    private readonly StreamReceiver _receiver;
    private readonly StreamSender _sender;
    private Func<Exception>? _end;

    internal StreamSocket(ZlinkContext context, StreamOptions options)
        : base(context, options)
    {
        Options = options;
        Hub = new StreamHub(context.Host, options.TotalReceiveByteLimit ?? 0);
        _receiver = new StreamReceiver(Hub.Queue, options.AllowSynchronousContinuations);
        _sender = new StreamSender(Hub);
        Batches = new StreamBatches(Hub, _sender);
    }

    /// <summary>The options; later changes reach endpoints made later.</summary>
    public new StreamOptions Options { get; }

    /// <inheritdoc/>
    /// <remarks>Those that can be sent to now.</remarks>
    public override int PeerCount => Hub.PeerCount;

    /// <inheritdoc/>
    /// <remarks>A message or an event of a peer that is pulled.</remarks>
    public override bool CanReceive => Hub.IsReadable;

    /// <inheritdoc/>
    /// <remarks>Always true: whether there is room is a matter of each peer.</remarks>
    public override bool CanSend => true;
    private protected override SocketMonitors Monitors => Hub.Monitors;
    private protected override EndpointStatus[] Endpoints => Hub.Endpoints.All;
    internal override PollItem Polled(PollEvents events, object? userState) => new StreamPollItem(this, events, userState);
    internal StreamHub Hub { get; }

    internal StreamBatches Batches { get; }

    /// <summary>Listens; the frames of peers that come in are received from this socket.</summary>
    /// <param name="endpoint">
    /// tcp://host:port; host an address, a name, an interface or *; port 0 or * for any free one. Or ipc://path (at most 107 bytes,
    /// relative to the working directory or absolute; this user only), ipc://@name (Linux; no file, any user), or ipc://* for a new file in
    /// the temporary directory. Or tls://host:port, ws://host:port/path, wss://host:port/path, which for tls and wss needs a certificate
    /// first, in <see cref="SocketOptions.Tls"/>.
    /// </param>
    /// <returns>The endpoint with the real port and the numeric address, over ws and wss the host as it was written; of ipc://* with the
    /// path that was made.</returns>
    /// <exception cref="ZlinkException">InvalidArgument, ProtocolNotSupported, NoDevice, AddressInUse, TooManySockets; for ipc also
    /// NotFound, NotADirectory, NameTooLong or PermissionDenied. The message says what to do. ContextTerminated.</exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    public override string Bind(string endpoint) => Bind(endpoint, Hub.Pull);

    /// <summary>Listens; the frames of peers that come in go to <paramref name="handler"/>.</summary>
    /// <param name="endpoint">As for <see cref="Bind(string)"/>.</param>
    /// <param name="handler">Called on each peer's shard.</param>
    /// <returns>The endpoint with the real port and the numeric address, over ws and wss the host as it was written; of ipc://* with the
    /// path that was made.</returns>
    /// <exception cref="ZlinkException">As for <see cref="Bind(string)"/>.</exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    public string Bind(string endpoint, StreamHandler handler)
    {
        ArgumentNullException.ThrowIfNull(handler);
        return Bind(endpoint, new FramedPeers(new StreamPushSink(this, handler), pulled: false));
    }

    /// <summary>Listens; each peer that comes in is handed to <paramref name="handler"/> as a pipe of bytes, without framing.</summary>
    /// <param name="endpoint">As for <see cref="Bind(string)"/>.</param>
    /// <param name="handler">
    /// Called on the thread pool, once per peer. When its task completes the connection is ended in order; if it fails, with an event,
    /// unless it is with what its own pipe threw: that tells of the connection's end, which has an event of its own. The end of the socket,
    /// and of the context, waits for it: who awaits the context's end in here waits for himself, until
    /// <see cref="ZlinkContextOptions.ShutdownTimeout"/> is over. Begin it, and return.
    /// </param>
    /// <returns>The endpoint with the real port and the numeric address, over ws and wss the host as it was written; of ipc://* with the
    /// path that was made.</returns>
    /// <exception cref="ZlinkException">As for <see cref="Bind(string)"/>.</exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    public string BindPipe(string endpoint, Func<StreamPipe, Task> handler)
    {
        ArgumentNullException.ThrowIfNull(handler);
        return Bind(endpoint, new PipePeers(handler));
    }

    /// <inheritdoc/>
    public override void Unbind(string endpoint) => EndListener(endpoint, keepsPeers: false);

    /// <inheritdoc/>
    public override void StopListening(string endpoint) => EndListener(endpoint, keepsPeers: true);

    private void EndListener(string endpoint, bool keepsPeers)
    {
        ArgumentNullException.ThrowIfNull(endpoint);
        ThrowIfEnded();
        if (!Transports.Endpoints.TryParseBind(endpoint, out BindTarget target, out EndpointError error))
        {
            throw ZlinkException.ForEndpoint(endpoint, error);
        }

        if (!Hub.Endpoints.Unbind(target, keepsPeers))
        {
            throw new ZlinkException(ZlinkError.NotFound,
                $"{EndpointError.Quote(endpoint)} is not bound; use the text given to Bind or the one it returned");
        }
    }

    /// <summary>Connects to a peer whose frames are received from this socket. Does not connect again after a loss.</summary>
    /// <param name="endpoint">tcp://host:port, tcp://source:port;host:port, ipc://path, ipc://@name (Linux), tls://host:port,
    /// ws://host:port/path or wss://host:port/path.</param>
    /// <param name="cancellationToken">Ends the attempt.</param>
    /// <returns>The new peer's id. Completes on the thread pool when the connection is up.</returns>
    /// <exception cref="ZlinkException">InvalidArgument, ProtocolNotSupported, NoDevice, ConnectionRefused, TimedOut, TooManySockets ...;
    /// the message says what to do. ContextTerminated.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    public ValueTask<uint> ConnectAsync(string endpoint, CancellationToken cancellationToken = default) =>
        ConnectAsync(endpoint, new StreamConnectOptions(), cancellationToken);

    /// <summary>Connects to a peer.</summary>
    /// <param name="endpoint">As for <see cref="ConnectAsync(string, CancellationToken)"/>.</param>
    /// <param name="options">How it is consumed, and whether it is made anew after a loss. The first attempt is always a single
    /// one.</param>
    /// <param name="cancellationToken">Ends the attempt.</param>
    /// <returns>The new peer's id; a reconnect makes another peer with an id of its own.</returns>
    /// <exception cref="ZlinkException">As for <see cref="ConnectAsync(string, CancellationToken)"/>.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    public ValueTask<uint> ConnectAsync(string endpoint, StreamConnectOptions options, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(options);
        IPeerFactory factory = options.Handler is null ? Hub.Pull
            : new FramedPeers(new StreamPushSink(this, options.Handler), pulled: false);
        ReconnectPolicy? policy = options.Reconnect ? new ReconnectPolicy(options.ReconnectInterval, options.ReconnectIntervalMax) : null;
        return ConnectAsync(endpoint, factory, policy, cancellationToken);
    }

    /// <summary>Connects to a peer and gives its bytes as a pipe, without framing.</summary>
    /// <param name="endpoint">As for <see cref="ConnectAsync(string, CancellationToken)"/>.</param>
    /// <param name="cancellationToken">Ends the attempt.</param>
    /// <returns>The pipe; dispose it to end the connection.</returns>
    /// <exception cref="ZlinkException">As for <see cref="ConnectAsync(string, CancellationToken)"/>.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    public async ValueTask<StreamPipe> ConnectPipeAsync(string endpoint, CancellationToken cancellationToken = default)
    {
        var peers = new PipePeers(handler: null);
        await ConnectAsync(endpoint, peers, reconnect: null, cancellationToken).ConfigureAwait(false);
        return peers.Made!;
    }

    /// <summary>Takes the next message, if there is one.</summary>
    /// <param name="message">The message; dispose it.</param>
    /// <returns>False if there is none now.</returns>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    public bool TryReceive(out StreamMessage message) => _receiver.TryReceive(out message);

    /// <summary>Waits for the next message, at most <see cref="SocketOptions.ReceiveTimeout"/>, blocking the calling thread.</summary>
    /// <returns>The message; dispose it.</returns>
    /// <exception cref="TimeoutException">None came in time.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    /// <exception cref="InvalidOperationException">Called on a shard, from a handler, where blocking would stop what it waits
    /// for.</exception>
    public StreamMessage Receive() => _receiver.Receive(Options.ReceiveTimeout);

    /// <summary>Waits for the next message, blocking the calling thread.</summary>
    /// <param name="timeout">How long; <see cref="Timeout.InfiniteTimeSpan"/> for as long as it takes.</param>
    /// <returns>The message; dispose it.</returns>
    /// <exception cref="TimeoutException">None came in time.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The timeout is negative and not infinite.</exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    /// <exception cref="InvalidOperationException">Called on a shard, from a handler.</exception>
    public StreamMessage Receive(TimeSpan timeout) => _receiver.Receive(OptionRange.Time(timeout, mayBeInfinite: true));

    /// <summary>Waits for the next message. Any number may wait; they are served in order.</summary>
    /// <param name="cancellationToken">Ends the wait; no message is lost by it.</param>
    /// <returns>The message; dispose it. Complete at once if there is one; allocates nothing either way.</returns>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    public ValueTask<StreamMessage> ReceiveAsync(CancellationToken cancellationToken = default) =>
        _receiver.ReceiveAsync(cancellationToken);

    /// <summary>Takes as many messages as there are and fit, without waiting.</summary>
    /// <param name="messages">Where to put them; dispose each that was put.</param>
    /// <returns>How many; 0 if there is none.</returns>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    public int ReceiveMany(Span<StreamMessage> messages) => _receiver.ReceiveMany(messages);

    /// <summary>Waits until there is a message, then takes as many as there are and fit.</summary>
    /// <param name="messages">Where to put them; not empty. Dispose each that was put.</param>
    /// <param name="cancellationToken">Ends the wait; no message is lost by it.</param>
    /// <returns>How many, at least 1.</returns>
    /// <exception cref="ArgumentException"><paramref name="messages"/> is empty.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    public ValueTask<int> ReceiveManyAsync(Memory<StreamMessage> messages, CancellationToken cancellationToken = default) =>
        _receiver.ReceiveManyAsync(messages, cancellationToken);

    /// <summary>All messages until the socket is disposed or its context shut down; then the enumeration ends.</summary>
    /// <param name="cancellationToken">Ends the enumeration with an exception; no message is lost by it.</param>
    /// <returns>The messages; dispose each.</returns>
    public IAsyncEnumerable<StreamMessage> ReceiveAllAsync(CancellationToken cancellationToken = default) =>
        _receiver.ReceiveAllAsync(cancellationToken);

    /// <summary>Sends a payload if there is room; copies it.</summary>
    /// <param name="peerId">The peer.</param>
    /// <param name="payload">Any bytes, also none, which a null array is taken for.</param>
    /// <returns>False if the peer is at its high-water mark or at a byte limit, or gone; all are, once the socket has ended.</returns>
    /// <exception cref="ArgumentException">The payload is longer than a frame can be.</exception>
    public bool TrySend(uint peerId, ReadOnlySpan<byte> payload) => TrySend(peerId, payload, out _);

    /// <summary>Sends a payload if there is room; copies it.</summary>
    /// <param name="peerId">The peer.</param>
    /// <param name="payload">Any bytes, also none, which a null array is taken for.</param>
    /// <param name="error">None; Again: the peer is at its high-water mark or at a byte limit; HostUnreachable: it is gone, as all are once
    /// the socket has ended; NotSupported: it is a pipe.</param>
    /// <returns>True if it was accepted.</returns>
    /// <exception cref="ArgumentException">The payload is longer than a frame can be.</exception>
    public bool TrySend(uint peerId, ReadOnlySpan<byte> payload, out ZlinkError error)
    {
        error = _sender.TrySend(peerId, payload);
        return error == ZlinkError.None;
    }

    /// <summary>Sends a payload, blocking for room at most <see cref="SocketOptions.SendTimeout"/>; copies it.</summary>
    /// <param name="peerId">The peer.</param>
    /// <param name="payload">Any bytes, also none, which a null array is taken for.</param>
    /// <exception cref="TimeoutException">No room in time.</exception>
    /// <exception cref="ZlinkException">HostUnreachable: no such peer; there is none any more once the socket has ended. NotSupported: it
    /// is a pipe.</exception>
    /// <exception cref="ArgumentException">The payload is longer than a frame can be.</exception>
    /// <exception cref="InvalidOperationException">It would block a shard: called from a handler; use SendAsync there.</exception>
    public void Send(uint peerId, ReadOnlySpan<byte> payload) => Send(peerId, payload, Options.SendTimeout);

    /// <summary>Sends a payload, blocking for room; copies it.</summary>
    /// <param name="peerId">The peer.</param>
    /// <param name="payload">Any bytes, also none, which a null array is taken for.</param>
    /// <param name="timeout">How long to wait; <see cref="Timeout.InfiniteTimeSpan"/> for as long as it takes.</param>
    /// <exception cref="TimeoutException">No room in time.</exception>
    /// <exception cref="ZlinkException">HostUnreachable: no such peer; there is none any more once the socket has ended. NotSupported: it
    /// is a pipe.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The timeout is negative and not infinite.</exception>
    /// <exception cref="ArgumentException">The payload is longer than a frame can be.</exception>
    /// <exception cref="InvalidOperationException">It would block a shard: called from a handler; use SendAsync there.</exception>
    public void Send(uint peerId, ReadOnlySpan<byte> payload, TimeSpan timeout)
    {
        OptionRange.Time(timeout, mayBeInfinite: true);
        _sender.Send(peerId, payload, timeout);
    }

    /// <summary>Sends a payload, waiting for room where there is none.</summary>
    /// <param name="peerId">The peer.</param>
    /// <param name="payload">Any bytes; they must stay unchanged until the task completes, which is when they were copied.</param>
    /// <param name="cancellationToken">Ends the wait; the payload is then not sent.</param>
    /// <returns>Complete when the payload was accepted; nothing is allocated in either case.</returns>
    /// <exception cref="ZlinkException">HostUnreachable: no such peer, or gone while waiting; there is none any more once the socket has
    /// ended. NotSupported: it is a pipe.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled first.</exception>
    public ValueTask SendAsync(uint peerId, ReadOnlyMemory<byte> payload, CancellationToken cancellationToken = default) =>
        SendToAsync(_sender.Find(peerId), payload, cancellationToken);

    /// <summary>Sends a payload without copying it (from 16 KiB up; shorter ones are cheaper to copy).</summary>
    /// <param name="peerId">The peer.</param>
    /// <param name="payload">Handed over where the send succeeds: the library disposes it when it was written or cannot be any more. Where
    /// the send fails it stays the caller's.</param>
    /// <param name="length">How many bytes of it to send.</param>
    /// <param name="cancellationToken">Ends the wait for room; the payload is then not sent.</param>
    /// <returns>Complete when the payload was accepted.</returns>
    /// <exception cref="ZlinkException">HostUnreachable: no such peer, or gone while waiting; there is none any more once the socket has
    /// ended. NotSupported: it is a pipe.</exception>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="length"/> is negative or more than the memory holds.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled first.</exception>
    public ValueTask SendAsync(uint peerId, IMemoryOwner<byte> payload, int length, CancellationToken cancellationToken = default) =>
        _sender.SendAsync(peerId, payload, length, cancellationToken);

    /// <summary>Passes received messages on to a peer, in order and as they came, without copying what is long: an echo, a relay. Never
    /// waits. Those that are accepted end, as if disposed; the others stay the caller's.</summary>
    /// <remarks>Cheapest for messages that stand behind one another as <see cref="ReceiveMany"/> gave them: a burst of one peer is looked
    /// at, queued and ended in few steps, however many messages it has. What is passed on keeps the memory it was received in until it is
    /// written.</remarks>
    /// <param name="peerId">The peer to send to.</param>
    /// <param name="messages">Payloads of any peers; no events among them.</param>
    /// <param name="error">None; Again: the peer is at its high-water mark or at a byte limit; HostUnreachable: it is gone, as all are once
    /// the socket has ended; NotSupported: it is a pipe.</param>
    /// <returns>How many were accepted, from the first one on: all of them unless there is an error.</returns>
    /// <exception cref="ArgumentException">One of the messages is an event; those before it were sent.</exception>
    /// <exception cref="ObjectDisposedException">One of the messages was disposed; those before it were sent, except that of messages read
    /// together none were.</exception>
    public int SendMany(uint peerId, ReadOnlySpan<StreamMessage> messages, out ZlinkError error) =>
        Batches.SendMany(peerId, messages, out error);

    /// <summary>Sends payloads to a peer in order, as many as need not wait; copies them.</summary>
    /// <param name="peerId">The peer.</param>
    /// <param name="payloads">Any bytes, also none.</param>
    /// <param name="error">None; Again: the peer is at its high-water mark or at a byte limit; HostUnreachable: it is gone, as all are once
    /// the socket has ended; NotSupported: it is a pipe.</param>
    /// <returns>How many were accepted, from the first one on: all of them unless there is an error.</returns>
    /// <exception cref="ArgumentException">A payload is longer than a frame can be; those before it were sent.</exception>
    public int SendMany(uint peerId, ReadOnlySpan<ReadOnlyMemory<byte>> payloads, out ZlinkError error) =>
        Batches.SendMany(peerId, payloads, out error);

    /// <summary>Passes received messages on to a peer, in order and as they came, without copying what is long, waiting for room until all
    /// are accepted. Those that are accepted end, as if disposed; the others stay the caller's.</summary>
    /// <param name="peerId">The peer to send to.</param>
    /// <param name="messages">Payloads of any peers; no events among them. Unchanged, and none disposed, until the task completes.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <returns>How many were accepted, from the first one on. Fewer than there are only if something ended the wait behind the first one:
    /// the next call says what. Allocates nothing, waiting or not.</returns>
    /// <exception cref="ZlinkException">HostUnreachable: no such peer; there is none any more once the socket has ended. NotSupported: it
    /// is a pipe. Nothing was sent.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled; nothing was sent.</exception>
    /// <exception cref="ArgumentException">One of the messages is an event; those before it were sent.</exception>
    /// <exception cref="ObjectDisposedException">One of the messages was disposed; those before it were sent, except that of messages read
    /// together none may have been.</exception>
    public ValueTask<int> SendManyAsync(uint peerId, ReadOnlyMemory<StreamMessage> messages,
        CancellationToken cancellationToken = default) => Batches.SendManyAsync(peerId, messages, cancellationToken);

    /// <summary>Sends payloads to a peer in order, waiting for room until all are accepted; copies them.</summary>
    /// <param name="peerId">The peer.</param>
    /// <param name="payloads">Any bytes, also none; unchanged until the task completes.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <returns>As for the other.</returns>
    /// <exception cref="ZlinkException">As for the other.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled; nothing was sent.</exception>
    /// <exception cref="ArgumentException">A payload is longer than a frame can be; those before it were sent.</exception>
    public ValueTask<int> SendManyAsync(uint peerId, ReadOnlyMemory<ReadOnlyMemory<byte>> payloads,
        CancellationToken cancellationToken = default) => Batches.SendManyAsync(peerId, payloads, cancellationToken);

    /// <summary>Sends one payload to many peers, encoded once. Never waits: a peer that is at its high-water mark or at a byte limit, or
    /// gone, is passed over; all are gone once the socket has ended.</summary>
    /// <param name="peerIds">The peers.</param>
    /// <param name="payload">Any bytes, also none, which a null array is taken for; copied once.</param>
    /// <returns>How many peers took it.</returns>
    /// <exception cref="ArgumentException">The payload is longer than a frame can be.</exception>
    public int Broadcast(ReadOnlySpan<uint> peerIds, ReadOnlySpan<byte> payload) => _sender.Broadcast(peerIds, payload);

    /// <summary>Ends a peer in order: its id is invalid at once, its unread messages are dropped, what Send accepted is still written, then
    /// the connection closes.</summary>
    /// <remarks>What was accepted has the time of <see cref="SocketOptions.Linger"/>, for ever by default: until then a peer that does not
    /// read keeps its connection, what waits for it, and its place among <see cref="SocketOptions.MaxConnections"/>. Such a one is for
    /// <see cref="Abort(uint)"/>.</remarks>
    /// <param name="peerId">The peer.</param>
    /// <returns>False if there is no such peer.</returns>
    public bool Disconnect(uint peerId) => Hub.Disconnect(peerId, CloseMode.Orderly);

    /// <summary>Ends a peer at once: what was not written yet is dropped and counted.</summary>
    /// <param name="peerId">The peer.</param>
    /// <returns>False if there is no such peer; one that <see cref="Disconnect(uint)"/> has ended is none any more.</returns>
    public bool Abort(uint peerId) => Hub.Disconnect(peerId, CloseMode.Abort);

    /// <summary>Ends what ConnectAsync made of an endpoint, also while it is down and waits for the next attempt: its peers as
    /// <see cref="Disconnect(uint)"/> does, and no connection is made anew. A first attempt that is under way fails.</summary>
    /// <param name="endpoint">The text given to ConnectAsync; every connect of that text is ended.</param>
    /// <exception cref="ArgumentNullException"><paramref name="endpoint"/> is null.</exception>
    /// <exception cref="ZlinkException">NotFound: there is no such endpoint, or it was lost and is not connected again.
    /// ContextTerminated.</exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    public override void Disconnect(string endpoint)
    {
        ArgumentNullException.ThrowIfNull(endpoint);
        ThrowIfEnded();
        if (!Hub.Endpoints.Disconnect(endpoint))
        {
            throw new ZlinkException(ZlinkError.NotFound,
                $"{EndpointError.Quote(endpoint)} is not connected; use the text given to ConnectAsync");
        }
    }

    /// <summary>Finds a peer by its id.</summary>
    /// <param name="peerId">The id.</param>
    /// <param name="peer">The peer.</param>
    /// <returns>False if there is none, or it is gone.</returns>
    public bool TryGetPeer(uint peerId, [System.Diagnostics.CodeAnalysis.NotNullWhen(true)] out StreamPeer? peer)
    {
        peer = Hub.TryFind(peerId, out StreamLink link) ? PeerOf(link) : null;
        return peer is not null;
    }

    /// <summary>The peers that can be sent to now, in no particular order.</summary>
    /// <returns>A snapshot.</returns>
    public IReadOnlyList<StreamPeer> GetPeers() => [.. Hub.Peers.Select(PeerOf)];

    /// <summary>What this socket has done so far: a snapshot.</summary>
    /// <returns>The statistics.</returns>
    public StreamStatistics GetStatistics() => StreamStatistics.Of(Hub);

    /// <inheritdoc/>
    public override string Describe() => StreamDescription.Of(this);


    Task IContextSocket.AllClosed => Hub.AllClosed;

    bool IContextSocket.IsClosed => Hub.IsClosed;

    SocketMonitors IContextSocket.Monitors => Hub.Monitors;

    void IContextSocket.BeginClose(DisconnectReason reason) => BeginClose(reason, Options.LingerTime);

    void IContextSocket.Abort() => Hub.Abort();

    void IContextSocket.AddTo(UndeliveredSummary counters) => counters.Add(Hub);

    internal StreamPeer PeerOf(StreamLink link)
    {
        if (link.View is StreamPeer peer)
        {
            return peer;
        }

        var made = new StreamPeer(this, link);
        return (StreamPeer)link.SetView(made);
    }

    internal ValueTask SendToAsync(StreamLink link, ReadOnlyMemory<byte> payload, CancellationToken cancellationToken) =>
        _sender.SendAsync(link, payload, cancellationToken);

    internal override void ThrowIfEnded()
    {
        if (Hub.IsClosed)
        {
            throw _end!();
        }
    }

    private protected override void BeginClose(DisconnectReason reason, TimeSpan linger)
    {
        bool local = reason == DisconnectReason.Local;
        Func<Exception> end = local
            ? static () => new ObjectDisposedException(typeof(StreamSocket).FullName)
            : static () => new ZlinkException(ZlinkError.ContextTerminated, "the context was shut down");
        Interlocked.CompareExchange(ref _end, end, null); // The first end is what is told.
        Hub.Close(reason, linger, end);
        if (local)
        {
            _ = ForgetWhenClosedAsync();
        }
    }

    private string Bind(string endpoint, IPeerFactory factory)
    {
        ArgumentNullException.ThrowIfNull(endpoint);
        ThrowIfEnded();
        EndpointError error = Hub.Endpoints.Bind(endpoint, Options.Snapshot(), factory, out string resolved);
        if (error.Fault != EndpointFault.None)
        {
            throw ZlinkException.ForEndpoint(endpoint, error);
        }

        ThrowIfEnded(); // While it was being bound: then nothing is.
        SetLastEndpoint(resolved);
        return resolved;
    }

    private async ValueTask<uint> ConnectAsync(
        string endpoint, IPeerFactory factory, ReconnectPolicy? reconnect, CancellationToken cancellationToken)
    {
        ArgumentNullException.ThrowIfNull(endpoint);
        ThrowIfEnded();
        if (!Transports.Endpoints.TryParseConnect(endpoint, out ConnectTarget target, out EndpointError error))
        {
            throw ZlinkException.ForEndpoint(endpoint, error);
        }

        var dialer = new StreamDialer(Hub, target, Options.Snapshot(), factory, reconnect);
        (uint id, DialResult failure) = await dialer.BeginAsync(cancellationToken).ConfigureAwait(false);
        if (id == 0)
        {
            cancellationToken.ThrowIfCancellationRequested();
            ThrowIfEnded();
            throw ZlinkException.ForDial(endpoint, dialer.IsClosed ? failure with { Sentence = "it was disconnected meanwhile" } : failure);
        }

        SetLastEndpoint(endpoint);
        return id;
    }

    private async Task ForgetWhenClosedAsync()
    {
        await Hub.AllClosed.ConfigureAwait(false);
        Context.Forget(this);
    }
}
