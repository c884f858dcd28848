using System.Diagnostics.CodeAnalysis;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Sockets.Patterns;
using Net.Zlink.Sockets.Links;
using Net.Zlink.Sockets.Routing;

namespace Net.Zlink;

/// <summary>
/// ROUTER: receives from all peers in turn, each message with its sender's routing id, and sends to the peer with a given routing id. Its
/// peers are DEALER and ROUTER sockets.
/// </summary>
/// <remarks>
/// <para>Thread-safe. The routing id is not a part of the message: see <see cref="Message.RoutingId"/>.</para>
/// <para>
/// Without <see cref="RouterOptions.Mandatory"/>, the default, a send never waits or fails. A message to an unknown peer, or to one at its
/// high-water mark or a byte limit, is dropped, counted and reported (<see cref="Monitoring.SocketEventTypes.MessagesDropped"/>).
/// </para>
/// <para>With it TrySend returns false, SendAsync waits for capacity, and a send to an unknown peer fails.</para>
/// </remarks>
/// <example>
/// <code>
/// RouterSocket server = context.CreateRouter();
/// server.Bind("tcp://127.0.0.1:5555");
/// using Message request = await server.ReceiveAsync();
/// await server.SendAsync(request.RoutingId, "reply"u8.ToArray());
/// </code>
/// </example>
public sealed class RouterSocket : ReceivingSocket
{
    private readonly RouterCore _core;

    internal RouterSocket(ZlinkContext context, RouterOptions options)
        : this(context, new RouterCore(context.Host, context.Inproc), options)
    {
    }

    private RouterSocket(ZlinkContext context, RouterCore core, RouterOptions options)
        : base(context, core, options)
    {
        _core = core;
        Options = options;
        Sender = new MessageSender(core, options);
        Watch();
    }

    /// <summary>The options. Each option says when a change takes effect.</summary>
    public new RouterOptions Options { get; }
    internal readonly MessageSender Sender;

    /// <summary>
    /// Connects to a peer and names it. The name can be sent to at once, and replaces the routing id that the peer announces. A connected
    /// endpoint stays as it is, with its name.
    /// </summary>
    /// <param name="endpoint">As for <see cref="ZmpSocket.Connect(string)"/>.</param>
    /// <param name="peerRoutingId">The name: 1 to 255 bytes, not in use on this socket.</param>
    /// <exception cref="ArgumentException">The name is empty or longer than 255 bytes.</exception>
    /// <exception cref="ZlinkException">
    /// AddressInUse: the name is in use. Otherwise as for <see cref="ZmpSocket.Connect(string)"/>.
    /// </exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    public void Connect(string endpoint, ReadOnlySpan<byte> peerRoutingId) =>
        ConnectAs(endpoint, Named(peerRoutingId, nameof(peerRoutingId)).ToArray());

    /// <summary>Finds one peer; <see cref="ZmpSocket.GetPeers"/> returns all. The state may change before the next send.</summary>
    /// <param name="routingId">The peer's routing id, as in <see cref="Message.RoutingId"/>.</param>
    /// <param name="peer">The peer.</param>
    /// <returns>False: no peer has that id.</returns>
    public bool TryGetPeer(ReadOnlySpan<byte> routingId, [NotNullWhen(true)] out PeerInfo? peer)
    {
        peer = _core.TryFind(routingId, out PeerLink? link) ? PeerInfo.For(link) : null;
        return peer is not null;
    }

    /// <summary>Sends a message of one part without waiting.</summary>
    /// <param name="routingId">The peer's routing id, as in <see cref="Message.RoutingId"/>.</param>
    /// <param name="payload">The payload, which is copied. It may be empty; a null array counts as empty.</param>
    /// <returns>False if it would have to wait, or with <see cref="RouterOptions.Mandatory"/> if the peer is unknown.</returns>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    /// <exception cref="ArgumentException">The routing id is empty or over 255 bytes, or the payload is too long for a frame.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    public bool TrySend(ReadOnlySpan<byte> routingId, ReadOnlySpan<byte> payload) => TrySend(routingId, payload, out _);

    /// <inheritdoc cref="TrySend(ReadOnlySpan{byte}, ReadOnlySpan{byte})"/>
    /// <summary>Sends a message of one part without waiting, and returns the reason of a failure.</summary>
    /// <param name="routingId">The peer's routing id, as in <see cref="Message.RoutingId"/>.</param>
    /// <param name="payload">The payload, which is copied.</param>
    /// <param name="error">
    /// None; NoMemory: there is none for a buffer. With <see cref="RouterOptions.Mandatory"/> also Again (the peer is at its high-water
    /// mark or a byte limit) or HostUnreachable (it is unknown).
    /// </param>
    /// <returns>True if it was accepted.</returns>
    public bool TrySend(ReadOnlySpan<byte> routingId, ReadOnlySpan<byte> payload, out ZlinkError error)
    {
        error = Sender.TrySend(Named(routingId), payload);
        return error == ZlinkError.None;
    }

    /// <summary>
    /// Sends a message of one part. Blocks the calling thread while the peer has no capacity, at most
    /// <see cref="SocketOptions.SendTimeout"/>.
    /// </summary>
    /// <param name="routingId">The peer's routing id, as in <see cref="Message.RoutingId"/>.</param>
    /// <param name="payload">The payload, which is copied. It may be empty; a null array counts as empty.</param>
    /// <exception cref="TimeoutException">The peer had no capacity in time.</exception>
    /// <exception cref="ZlinkException">
    /// HostUnreachable: the peer is unknown, with <see cref="RouterOptions.Mandatory"/>. ContextTerminated.
    /// </exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    /// <exception cref="ArgumentException">The routing id is empty or over 255 bytes, or the payload is too long for a frame.</exception>
    /// <exception cref="InvalidOperationException">It would have to wait on a shard.</exception>
    public void Send(ReadOnlySpan<byte> routingId, ReadOnlySpan<byte> payload) => Sender.Send(Named(routingId), payload);

    /// <inheritdoc cref="Send(ReadOnlySpan{byte}, ReadOnlySpan{byte})"/>
    /// <summary>Sends a message of one part. Blocks the calling thread while the peer has no capacity.</summary>
    /// <param name="routingId">The peer's routing id, as in <see cref="Message.RoutingId"/>.</param>
    /// <param name="payload">The payload, which is copied.</param>
    /// <param name="timeout">The longest wait: <see cref="Timeout.InfiniteTimeSpan"/> for no limit, zero for no wait.</param>
    /// <exception cref="ArgumentOutOfRangeException">The timeout is negative and not infinite.</exception>
    public void Send(ReadOnlySpan<byte> routingId, ReadOnlySpan<byte> payload, TimeSpan timeout) =>
        Sender.Send(Named(routingId), payload, OptionRange.Time(timeout, mayBeInfinite: true));

    /// <summary>Sends a message of one part, and waits for capacity if needed.</summary>
    /// <param name="routingId">The peer's routing id, as in <see cref="Message.RoutingId"/>.</param>
    /// <param name="payload">The payload, which must not change until the task completes. It may be empty.</param>
    /// <param name="cancellationToken">Cancels the wait. Nothing is sent then.</param>
    /// <returns>A task that completes when the message is accepted. Allocates nothing.</returns>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    /// <exception cref="ZlinkException">
    /// HostUnreachable: the peer is unknown, with <see cref="RouterOptions.Mandatory"/>. ContextTerminated.
    /// </exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    /// <exception cref="ArgumentException">The routing id is empty or over 255 bytes, or the payload is too long for a frame.</exception>
    public ValueTask SendAsync(ReadOnlyMemory<byte> routingId, ReadOnlyMemory<byte> payload,
        CancellationToken cancellationToken = default) => Sender.SendAsync(Named(routingId.Span), payload, cancellationToken);

    /// <summary>Sends a message of several parts, whole or not at all, without waiting.</summary>
    /// <param name="routingId">The peer's routing id, as in <see cref="Message.RoutingId"/>.</param>
    /// <param name="message">A message of at least one part. Empty after it was accepted.</param>
    /// <returns>False if it would have to wait, or with <see cref="RouterOptions.Mandatory"/> if the peer is unknown.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="message"/> is null.</exception>
    /// <exception cref="ObjectDisposedException">The socket or the message is disposed.</exception>
    /// <exception cref="ArgumentException">The routing id is empty or over 255 bytes, or the message has no part.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    public bool TrySend(ReadOnlySpan<byte> routingId, MessageBuilder message) => TrySend(routingId, message, out _);

    /// <inheritdoc cref="TrySend(ReadOnlySpan{byte}, MessageBuilder)"/>
    /// <summary>Sends a message of several parts, whole or not at all, without waiting, and returns the reason of a failure.</summary>
    /// <param name="routingId">The peer's routing id, as in <see cref="Message.RoutingId"/>.</param>
    /// <param name="message">The message. Empty after it was accepted.</param>
    /// <param name="error">
    /// None; NoMemory: there is none for a buffer. With <see cref="RouterOptions.Mandatory"/> also Again (the peer is at its high-water
    /// mark or a byte limit) or HostUnreachable (it is unknown).
    /// </param>
    /// <returns>True if it was accepted.</returns>
    public bool TrySend(ReadOnlySpan<byte> routingId, MessageBuilder message, out ZlinkError error)
    {
        error = Sender.TrySend(Named(routingId), message);
        return error == ZlinkError.None;
    }

    /// <inheritdoc cref="Send(ReadOnlySpan{byte}, ReadOnlySpan{byte})"/>
    /// <summary>
    /// Sends a message of several parts, whole or not at all. Blocks the calling thread while the peer has no capacity, at most
    /// <see cref="SocketOptions.SendTimeout"/>.
    /// </summary>
    /// <param name="routingId">The peer's routing id, as in <see cref="Message.RoutingId"/>.</param>
    /// <param name="message">A message of at least one part. Empty after it was accepted.</param>
    /// <exception cref="ArgumentNullException"><paramref name="message"/> is null.</exception>
    /// <exception cref="ObjectDisposedException">The socket or the message is disposed.</exception>
    /// <exception cref="ArgumentException">The routing id is empty or over 255 bytes, or the message has no part.</exception>
    public void Send(ReadOnlySpan<byte> routingId, MessageBuilder message) => Sender.Send(Named(routingId), message);

    /// <inheritdoc cref="Send(ReadOnlySpan{byte}, MessageBuilder)"/>
    /// <summary>Sends a message of several parts, whole or not at all. Blocks the calling thread while the peer has no capacity.</summary>
    /// <param name="routingId">The peer's routing id, as in <see cref="Message.RoutingId"/>.</param>
    /// <param name="message">The message. Empty after it was accepted.</param>
    /// <param name="timeout">The longest wait: <see cref="Timeout.InfiniteTimeSpan"/> for no limit, zero for no wait.</param>
    /// <exception cref="ArgumentOutOfRangeException">The timeout is negative and not infinite.</exception>
    public void Send(ReadOnlySpan<byte> routingId, MessageBuilder message, TimeSpan timeout) =>
        Sender.Send(Named(routingId), message, OptionRange.Time(timeout, mayBeInfinite: true));

    /// <inheritdoc cref="SendAsync(ReadOnlyMemory{byte}, ReadOnlyMemory{byte}, CancellationToken)"/>
    /// <summary>Sends a message of several parts, whole or not at all, and waits for capacity if needed.</summary>
    /// <param name="routingId">The peer's routing id, as in <see cref="Message.RoutingId"/>.</param>
    /// <param name="message">A message of at least one part. Empty after it was accepted.</param>
    /// <param name="cancellationToken">Cancels the wait. Nothing is sent then.</param>
    /// <exception cref="ArgumentNullException"><paramref name="message"/> is null.</exception>
    /// <exception cref="ObjectDisposedException">The socket or the message is disposed.</exception>
    /// <exception cref="ArgumentException">The routing id is empty or over 255 bytes, or the message has no part.</exception>
    /// <exception cref="InvalidOperationException">The builder was changed during the wait. Nothing of it was sent.</exception>
    public ValueTask SendAsync(ReadOnlyMemory<byte> routingId, MessageBuilder message, CancellationToken cancellationToken = default) =>
        Sender.SendAsync(Named(routingId.Span), message, cancellationToken);

    /// <summary>Forwards a received message without waiting, without a copy of long parts.</summary>
    /// <param name="routingId">The peer's routing id, as in <see cref="Message.RoutingId"/>.</param>
    /// <param name="message">A received message. Accepting it ends it, as Dispose does.</param>
    /// <returns>False if it would have to wait, or with <see cref="RouterOptions.Mandatory"/> if the peer is unknown.</returns>
    /// <exception cref="ObjectDisposedException">The socket or the message is disposed.</exception>
    /// <exception cref="InvalidOperationException">The message is empty.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    /// <exception cref="ArgumentException">The routing id is empty or over 255 bytes.</exception>
    public bool TrySend(ReadOnlySpan<byte> routingId, in Message message) => TrySend(routingId, in message, out _);

    /// <inheritdoc cref="TrySend(ReadOnlySpan{byte}, in Message)"/>
    /// <summary>Forwards a received message without waiting, and returns the reason of a failure.</summary>
    /// <param name="routingId">The peer's routing id, as in <see cref="Message.RoutingId"/>.</param>
    /// <param name="message">The message. Empty after it was accepted.</param>
    /// <param name="error">
    /// None; NoMemory: there is none for a buffer. With <see cref="RouterOptions.Mandatory"/> also Again (the peer is at its high-water
    /// mark or a byte limit) or HostUnreachable (it is unknown).
    /// </param>
    /// <returns>True if it was accepted.</returns>
    public bool TrySend(ReadOnlySpan<byte> routingId, in Message message, out ZlinkError error)
    {
        error = Sender.TrySend(Named(routingId), in message);
        return error == ZlinkError.None;
    }

    /// <inheritdoc cref="Send(ReadOnlySpan{byte}, ReadOnlySpan{byte})"/>
    /// <summary>
    /// Forwards a received message without a copy of long parts. Blocks the calling thread while the peer has no capacity, at most
    /// <see cref="SocketOptions.SendTimeout"/>.
    /// </summary>
    /// <param name="routingId">The peer's routing id, as in <see cref="Message.RoutingId"/>.</param>
    /// <param name="message">A received message. Accepting it ends it, as Dispose does.</param>
    /// <exception cref="ObjectDisposedException">The socket or the message is disposed.</exception>
    /// <exception cref="InvalidOperationException">The message is empty, or it would have to wait on a shard.</exception>
    /// <exception cref="ArgumentException">The routing id is empty or over 255 bytes.</exception>
    public void Send(ReadOnlySpan<byte> routingId, in Message message) => Sender.Send(Named(routingId), in message);

    /// <inheritdoc cref="Send(ReadOnlySpan{byte}, in Message)"/>
    /// <summary>
    /// Forwards a received message without a copy of long parts. Blocks the calling thread while the peer has no capacity.
    /// </summary>
    /// <param name="routingId">The peer's routing id, as in <see cref="Message.RoutingId"/>.</param>
    /// <param name="message">The message. Empty after it was accepted.</param>
    /// <param name="timeout">The longest wait: <see cref="Timeout.InfiniteTimeSpan"/> for no limit, zero for no wait.</param>
    /// <exception cref="ArgumentOutOfRangeException">The timeout is negative and not infinite.</exception>
    public void Send(ReadOnlySpan<byte> routingId, in Message message, TimeSpan timeout) =>
        Sender.Send(Named(routingId), in message, OptionRange.Time(timeout, mayBeInfinite: true));

    /// <inheritdoc cref="SendAsync(ReadOnlyMemory{byte}, ReadOnlyMemory{byte}, CancellationToken)"/>
    /// <summary>Forwards a received message without a copy of long parts, and waits for capacity if needed.</summary>
    /// <param name="routingId">The peer's routing id, as in <see cref="Message.RoutingId"/>.</param>
    /// <param name="message">A received message. Accepting it ends it, as Dispose does.</param>
    /// <param name="cancellationToken">Cancels the wait. Nothing is sent then.</param>
    /// <exception cref="ObjectDisposedException">The socket or the message is disposed.</exception>
    /// <exception cref="InvalidOperationException">The message is empty.</exception>
    /// <exception cref="ArgumentException">The routing id is empty or over 255 bytes.</exception>
    public ValueTask SendAsync(ReadOnlyMemory<byte> routingId, in Message message, CancellationToken cancellationToken = default) =>
        Sender.SendAsync(Named(routingId.Span), in message, cancellationToken);

    /// <inheritdoc cref="SendAsync(ReadOnlyMemory{byte}, ReadOnlyMemory{byte}, CancellationToken)"/>
    /// <summary>
    /// Sends memory without a copy if it is long. The socket disposes it after the send. If the send fails, it still belongs to the caller.
    /// </summary>
    /// <param name="routingId">The peer's routing id, as in <see cref="Message.RoutingId"/>.</param>
    /// <param name="payload">The owner of the memory.</param>
    /// <param name="length">The length of the message in bytes.</param>
    /// <param name="cancellationToken">Cancels the wait. Nothing is sent then.</param>
    /// <exception cref="ArgumentNullException"><paramref name="payload"/> is null.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The memory has fewer bytes.</exception>
    /// <exception cref="ArgumentException">The routing id is empty or over 255 bytes.</exception>
    public ValueTask SendAsync(ReadOnlyMemory<byte> routingId, System.Buffers.IMemoryOwner<byte> payload, int length,
        CancellationToken cancellationToken = default) => Sender.SendAsync(Named(routingId.Span), payload, length, cancellationToken);

    /// <summary>
    /// Forwards received messages to one peer in order without waiting, without a copy of long parts. Accepted ones are ended; the others
    /// still belong to the caller.
    /// </summary>
    /// <param name="routingId">The peer's routing id, as in <see cref="Message.RoutingId"/>.</param>
    /// <param name="messages">Messages from <see cref="ReceivingSocket.ReceiveMany"/>.</param>
    /// <param name="error">
    /// None. With <see cref="RouterOptions.Mandatory"/> also Again (the peer is at its high-water mark or a byte limit) or HostUnreachable
    /// (it is unknown). After the first message also ContextTerminated.
    /// </param>
    /// <returns>How many were accepted, from the first on: all, unless there is an error.</returns>
    /// <exception cref="ObjectDisposedException">The socket or a message is disposed. The messages before it were sent.</exception>
    /// <exception cref="InvalidOperationException">A message is empty. The messages before it were sent.</exception>
    /// <exception cref="ZlinkException">ContextTerminated. Nothing was sent.</exception>
    /// <exception cref="ArgumentException">The routing id is empty or over 255 bytes.</exception>
    public int SendMany(ReadOnlySpan<byte> routingId, ReadOnlySpan<Message> messages, out ZlinkError error) =>
        Sender.SendMany(Named(routingId), messages, out error);

    /// <inheritdoc cref="SendMany(ReadOnlySpan{byte}, ReadOnlySpan{Message}, out ZlinkError)"/>
    /// <summary>Sends messages of one part each to one peer in order, without waiting.</summary>
    /// <param name="routingId">The peer's routing id, as in <see cref="Message.RoutingId"/>.</param>
    /// <param name="payloads">The payloads, which are copied.</param>
    /// <param name="error">None, or the reason of the failure.</param>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    /// <exception cref="ArgumentException">
    /// The routing id is empty or over 255 bytes, or a payload is too long for a frame. Those before it were sent.
    /// </exception>
    public int SendMany(ReadOnlySpan<byte> routingId, ReadOnlySpan<ReadOnlyMemory<byte>> payloads, out ZlinkError error) =>
        Sender.SendMany(Named(routingId), payloads, out error);

    /// <summary>
    /// Forwards received messages to one peer in order without a copy of long parts, and waits until all are accepted. Accepted ones are
    /// ended; the others still belong to the caller.
    /// </summary>
    /// <param name="routingId">The peer's routing id, as in <see cref="Message.RoutingId"/>.</param>
    /// <param name="messages">Received messages. They must not change until the task completes.</param>
    /// <param name="cancellationToken">Cancels the wait.</param>
    /// <returns>
    /// How many were accepted, from the first on. Fewer than all only if the wait ended after the first one; the next call then fails with
    /// the reason. Allocates nothing.
    /// </returns>
    /// <exception cref="OperationCanceledException">The token was cancelled. Nothing was sent.</exception>
    /// <exception cref="ZlinkException">
    /// HostUnreachable: the peer is unknown, with <see cref="RouterOptions.Mandatory"/>. ContextTerminated. Nothing was sent.
    /// </exception>
    /// <exception cref="ObjectDisposedException">The socket or a message is disposed. The messages before it were sent.</exception>
    /// <exception cref="InvalidOperationException">A message is empty. The messages before it were sent.</exception>
    /// <exception cref="ArgumentException">The routing id is empty or over 255 bytes.</exception>
    public ValueTask<int> SendManyAsync(ReadOnlyMemory<byte> routingId, ReadOnlyMemory<Message> messages,
        CancellationToken cancellationToken = default) => Sender.SendManyAsync(Named(routingId), messages, cancellationToken);

    /// <inheritdoc cref="SendManyAsync(ReadOnlyMemory{byte}, ReadOnlyMemory{Message}, CancellationToken)"/>
    /// <summary>Sends messages of one part each to one peer in order, and waits until all are accepted.</summary>
    /// <param name="routingId">The peer's routing id, as in <see cref="Message.RoutingId"/>.</param>
    /// <param name="payloads">The payloads. They must not change until the task completes.</param>
    /// <param name="cancellationToken">Cancels the wait. Nothing is sent then.</param>
    /// <exception cref="ObjectDisposedException">The socket is disposed. What was accepted before is sent.</exception>
    /// <exception cref="ArgumentException">
    /// The routing id is empty or over 255 bytes, or a payload is too long for a frame. Those before it were sent.
    /// </exception>
    public ValueTask<int> SendManyAsync(ReadOnlyMemory<byte> routingId, ReadOnlyMemory<ReadOnlyMemory<byte>> payloads,
        CancellationToken cancellationToken = default) => Sender.SendManyAsync(Named(routingId), payloads, cancellationToken);

    /// <summary>
    /// Whether a message to this peer would be accepted now, for programs with <see cref="RouterOptions.Mandatory"/> that choose a peer
    /// first. The state may change before the send.
    /// </summary>
    /// <param name="routingId">The peer's routing id, as in <see cref="Message.RoutingId"/>.</param>
    /// <returns>
    /// False: the peer is unknown or full, or other sends wait for it. After false for a full peer, a <see cref="Poller"/> and the socket's
    /// waits notice new capacity.
    /// </returns>
    /// <exception cref="ArgumentException">The routing id is empty or over 255 bytes.</exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    public bool CanSendTo(ReadOnlySpan<byte> routingId)
    {
        ThrowIfEnded();
        return _core.CanSendTo(Named(routingId));
    }

    /// <summary>
    /// Answers a message on the connection that it came by, without waiting. The routing id does not matter, and nothing is dropped, with
    /// or without <see cref="RouterOptions.Mandatory"/>.
    /// </summary>
    /// <param name="received">A message that this socket received, not disposed yet, or a copy of one.</param>
    /// <param name="payload">The payload, which is copied. It may be empty.</param>
    /// <param name="error">
    /// None, Again (the peer is at its high-water mark or a byte limit) or HostUnreachable (the connection has ended).
    /// </param>
    /// <returns>True if it was accepted. Messages on a connection that this side made stay queued for its next connection.</returns>
    /// <exception cref="ArgumentException">
    /// This socket did not receive the first message, or the payload is too long for a frame.
    /// </exception>
    /// <exception cref="ObjectDisposedException">The socket or the message is disposed.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    public bool TrySendTo(in Message received, ReadOnlySpan<byte> payload, out ZlinkError error)
    {
        error = Sender.TrySendTo(ConnectionOf(received), payload);
        return error == ZlinkError.None;
    }

    /// <inheritdoc cref="TrySendTo(in Message, ReadOnlySpan{byte}, out ZlinkError)"/>
    /// <param name="received">A message that this socket received, not disposed yet, or a copy of one.</param>
    /// <param name="message">A message of at least one part. Empty after it was accepted.</param>
    /// <param name="error">None, or the reason of the failure.</param>
    /// <exception cref="ArgumentNullException"><paramref name="message"/> is null.</exception>
    /// <exception cref="ArgumentException">This socket did not receive the first message, or the other has no part.</exception>
    /// <exception cref="ObjectDisposedException">The socket or a message is disposed.</exception>
    public bool TrySendTo(in Message received, MessageBuilder message, out ZlinkError error)
    {
        error = Sender.TrySendTo(ConnectionOf(received), message);
        return error == ZlinkError.None;
    }

    /// <inheritdoc cref="TrySendTo(in Message, ReadOnlySpan{byte}, out ZlinkError)"/>
    /// <param name="received">A message that this socket received, not disposed yet, or a copy of one.</param>
    /// <param name="message">A received message, possibly the same one. Accepting it ends it, as Dispose does.</param>
    /// <param name="error">None, or the reason of the failure.</param>
    /// <exception cref="ArgumentException">This socket did not receive the first message.</exception>
    /// <exception cref="ObjectDisposedException">The socket or a message is disposed.</exception>
    /// <exception cref="InvalidOperationException">The second message is empty.</exception>
    public bool TrySendTo(in Message received, in Message message, out ZlinkError error)
    {
        error = Sender.TrySendTo(ConnectionOf(received), in message);
        return error == ZlinkError.None;
    }

    /// <summary>
    /// Answers a message on the connection that it came by, as <see cref="TrySendTo(in Message, ReadOnlySpan{byte}, out ZlinkError)"/>, and
    /// waits for capacity if needed.
    /// </summary>
    /// <param name="received">A message that this socket received, not disposed yet, or a copy of one.</param>
    /// <param name="payload">The payload, which must not change until the task completes. It may be empty.</param>
    /// <param name="cancellationToken">Cancels the wait. Nothing is sent then.</param>
    /// <returns>
    /// A task that completes when the message is accepted. Allocates nothing. <paramref name="received"/> may be disposed at once.
    /// </returns>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    /// <exception cref="ArgumentException">
    /// This socket did not receive the first message, or the payload is too long for a frame.
    /// </exception>
    /// <exception cref="ObjectDisposedException">The socket or the message is disposed.</exception>
    /// <exception cref="ZlinkException">HostUnreachable: the connection has ended. ContextTerminated.</exception>
    public ValueTask SendToAsync(in Message received, ReadOnlyMemory<byte> payload, CancellationToken cancellationToken = default) =>
        Sender.SendToAsync(ConnectionOf(received), payload, cancellationToken);

    /// <inheritdoc cref="SendToAsync(in Message, ReadOnlyMemory{byte}, CancellationToken)"/>
    /// <param name="received">A message that this socket received, not disposed yet, or a copy of one.</param>
    /// <param name="message">A message of at least one part. Empty after it was accepted; it must not change before that.</param>
    /// <param name="cancellationToken">Cancels the wait. Nothing is sent then.</param>
    /// <exception cref="ArgumentNullException"><paramref name="message"/> is null.</exception>
    /// <exception cref="InvalidOperationException">The builder was changed during the wait. Nothing of it was sent.</exception>
    /// <exception cref="ArgumentException">This socket did not receive the first message, or the other has no part.</exception>
    /// <exception cref="ObjectDisposedException">The socket or a message is disposed.</exception>
    public ValueTask SendToAsync(in Message received, MessageBuilder message, CancellationToken cancellationToken = default) =>
        Sender.SendToAsync(ConnectionOf(received), message, cancellationToken);

    /// <inheritdoc cref="SendToAsync(in Message, ReadOnlyMemory{byte}, CancellationToken)"/>
    /// <param name="received">A message that this socket received, not disposed yet, or a copy of one.</param>
    /// <param name="message">A received message, possibly the same one. Accepting it ends it, as Dispose does.</param>
    /// <param name="cancellationToken">Cancels the wait. Nothing is sent then.</param>
    /// <exception cref="InvalidOperationException">The second message is empty.</exception>
    /// <exception cref="ArgumentException">This socket did not receive the first message.</exception>
    /// <exception cref="ObjectDisposedException">The socket or a message is disposed.</exception>
    public ValueTask SendToAsync(in Message received, in Message message, CancellationToken cancellationToken = default) =>
        Sender.SendToAsync(ConnectionOf(received), in message, cancellationToken);

    private PeerSlot ConnectionOf(in Message received)
    {
        ThrowIfEnded();
        return received.Sender is PeerIdentity sender && !ReferenceEquals(sender, PeerIdentity.Unknown) && sender.Slot.Link is var link
            && (link is null || ReferenceEquals(link.Socket, _core)) ? sender.Slot
            : throw new ArgumentException("This is no message that a peer of this socket sent: pass a message that this ROUTER received.",
                nameof(received));
    }

    /// <summary>
    /// Throws for an id that no peer can have. Not in <see cref="MessageSender"/>: a <see cref="Proxy"/> takes ids from peers, and none may
    /// end the proxy.
    /// </summary>
    private static ReadOnlySpan<byte> Named(ReadOnlySpan<byte> routingId) => Named(routingId, nameof(routingId));

    private static ReadOnlySpan<byte> Named(ReadOnlySpan<byte> routingId, string argument)
    {
        if ((uint)(routingId.Length - 1) >= ZmpHello.LargestRoutingId)
        {
            ThrowNotNamed(routingId.Length, argument);
        }

        return routingId;
    }

    private static ReadOnlyMemory<byte> Named(ReadOnlyMemory<byte> routingId)
    {
        Named(routingId.Span, nameof(routingId));
        return routingId;
    }

    [DoesNotReturn]
    private static void ThrowNotNamed(int length, string argument) =>
        throw new ArgumentException(
            $"A routing id has 1 to {ZmpHello.LargestRoutingId} bytes, not {length}: use that of a message that this socket received, or "
            + $"of GetPeers().", argument);

    private protected override void ApplyOptions()
    {
        base.ApplyOptions();
        _core.IsMandatory = Options.Mandatory;
        _core.OnTakenId = (TakenIdPolicy)Options.OnDuplicateRoutingId; // The same members in the same order.
        _core.ProbesRouter = Options.ProbeRouter;
    }
}
