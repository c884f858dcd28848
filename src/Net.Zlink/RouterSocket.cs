using System.Diagnostics.CodeAnalysis;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Sockets.Patterns;
using Net.Zlink.Sockets.Links;
using Net.Zlink.Sockets.Routing;

namespace Net.Zlink;

/// <summary>ROUTER: receives fairly from all peers, each message with its sender's routing id, and sends to the peer that an id names.
/// Talks to DEALER and ROUTER.</summary>
/// <remarks>
/// Safe for any number of threads. The routing id is not a part of messages, in either direction: see <see cref="Message.RoutingId"/>.
/// <para>Without <see cref="RouterOptions.Mandatory"/>, the default, no send waits or fails: a message for a peer that is at its high-water
/// mark or at a byte limit, or that there is not, is accepted and dropped, counted and told by an event
/// (<see cref="Monitoring.SocketEventTypes.MessagesDropped"/>). With it TrySend returns false, SendAsync waits for room, and a send to
/// nobody fails.</para>
/// </remarks>
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

    /// <summary>The options.</summary>
    public new RouterOptions Options { get; }
    internal readonly MessageSender Sender;

    /// <summary>Connects to a peer and names it: the name can be sent to at once, and takes the place of the id that the peer announces. An
    /// endpoint that is connected already stays as it is, its name or lack of one too, as natively.</summary>
    /// <param name="endpoint">As for <see cref="ZmpSocket.Connect(string)"/>.</param>
    /// <param name="peerRoutingId">The name: 1 to 255 bytes, not in use on this socket.</param>
    /// <exception cref="ArgumentException">The name is empty or longer than 255 bytes.</exception>
    /// <exception cref="ZlinkException">AddressInUse: the name is in use. Else as for <see cref="ZmpSocket.Connect(string)"/>.</exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    public void Connect(string endpoint, ReadOnlySpan<byte> peerRoutingId) =>
        ConnectAs(endpoint, Named(peerRoutingId, nameof(peerRoutingId)).ToArray());

    /// <summary>Looks up one peer; <see cref="ZmpSocket.GetPeers"/> has all of them. A send a moment later may find another
    /// state.</summary>
    /// <param name="routingId">The peer's routing id, as <see cref="Message.RoutingId"/> has it.</param>
    /// <param name="peer">What is known of the peer.</param>
    /// <returns>False: a message for that id would go to nobody.</returns>
    public bool TryGetPeer(ReadOnlySpan<byte> routingId, [NotNullWhen(true)] out PeerInfo? peer)
    {
        peer = _core.TryFind(routingId, out PeerLink? link) ? PeerInfo.For(link) : null;
        return peer is not null;
    }

    /// <summary>Sends a message of one part if it need not wait.</summary>
    /// <param name="routingId">The peer, by the id that its messages come with.</param>
    /// <param name="payload">Any bytes, also none, which a null array is taken for; copied.</param>
    /// <returns>False if it would have to wait, or there is no such peer with <see cref="RouterOptions.Mandatory"/>.</returns>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    /// <exception cref="ArgumentException">The routing id is empty or over 255 bytes. The payload is too long for a frame.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    public bool TrySend(ReadOnlySpan<byte> routingId, ReadOnlySpan<byte> payload) => TrySend(routingId, payload, out _);

    /// <summary>Sends a message of one part if it need not wait, and says why not.</summary>
    /// <param name="routingId">The peer, by the id that its messages come with.</param>
    /// <param name="payload">Any bytes, also none, which a null array is taken for; copied.</param>
    /// <param name="error">None; with <see cref="RouterOptions.Mandatory"/> Again: the peer is at its high-water mark or at a byte limit,
    /// or HostUnreachable: there is no such peer.</param>
    /// <returns>True if it was accepted.</returns>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    /// <exception cref="ArgumentException">The routing id is empty or over 255 bytes. The payload is too long for a frame.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    public bool TrySend(ReadOnlySpan<byte> routingId, ReadOnlySpan<byte> payload, out ZlinkError error)
    {
        error = Sender.TrySend(Named(routingId), payload);
        return error == ZlinkError.None;
    }

    /// <summary>Sends a message of one part, waiting at most <see cref="SocketOptions.SendTimeout"/>, blocking the calling
    /// thread.</summary>
    /// <param name="routingId">The peer, by the id that its messages come with.</param>
    /// <param name="payload">Any bytes, also none, which a null array is taken for; copied.</param>
    /// <exception cref="TimeoutException">Nobody had room in time.</exception>
    /// <exception cref="ZlinkException">HostUnreachable: no such peer, with <see cref="RouterOptions.Mandatory"/>.
    /// ContextTerminated.</exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    /// <exception cref="ArgumentException">The routing id is empty or over 255 bytes. The payload is too long for a frame.</exception>
    /// <exception cref="InvalidOperationException">It would have to wait, and was called on a shard.</exception>
    public void Send(ReadOnlySpan<byte> routingId, ReadOnlySpan<byte> payload) => Sender.Send(Named(routingId), payload);

    /// <summary>Sends a message of one part, blocking the calling thread for room.</summary>
    /// <param name="routingId">The peer, by the id that its messages come with.</param>
    /// <param name="payload">Any bytes, also none, which a null array is taken for; copied.</param>
    /// <param name="timeout">How long; <see cref="Timeout.InfiniteTimeSpan"/> for as long as it takes, zero not to wait.</param>
    /// <exception cref="TimeoutException">Nobody had room in time.</exception>
    /// <exception cref="ZlinkException">HostUnreachable: no such peer, with <see cref="RouterOptions.Mandatory"/>.
    /// ContextTerminated.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The timeout is negative and not infinite.</exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    /// <exception cref="ArgumentException">The routing id is empty or over 255 bytes. The payload is too long for a frame.</exception>
    /// <exception cref="InvalidOperationException">It would have to wait, and was called on a shard.</exception>
    public void Send(ReadOnlySpan<byte> routingId, ReadOnlySpan<byte> payload, TimeSpan timeout) =>
        Sender.Send(Named(routingId), payload, OptionRange.Time(timeout, mayBeInfinite: true));

    /// <summary>Sends a message of one part, waiting for room if need be.</summary>
    /// <param name="routingId">The peer, by the id that its messages come with.</param>
    /// <param name="payload">Any bytes, also none, which a null array is taken for; unchanged until the task completes.</param>
    /// <param name="cancellationToken">Ends the wait; nothing is sent then.</param>
    /// <returns>Complete when the message was accepted; allocates nothing, waiting or not.</returns>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    /// <exception cref="ZlinkException">HostUnreachable: no such peer, with <see cref="RouterOptions.Mandatory"/>.
    /// ContextTerminated.</exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    /// <exception cref="ArgumentException">The routing id is empty or over 255 bytes. The payload is too long for a frame.</exception>
    public ValueTask SendAsync(ReadOnlyMemory<byte> routingId, ReadOnlyMemory<byte> payload,
        CancellationToken cancellationToken = default) => Sender.SendAsync(Named(routingId.Span), payload, cancellationToken);

    /// <summary>Sends a message of several parts, whole or not at all if it need not wait.</summary>
    /// <param name="routingId">The peer, by the id that its messages come with.</param>
    /// <param name="message">The message, of at least one part; empty when it was accepted.</param>
    /// <returns>False if it would have to wait, or there is no such peer with <see cref="RouterOptions.Mandatory"/>.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="message"/> is null.</exception>
    /// <exception cref="ObjectDisposedException">The socket or the message is disposed.</exception>
    /// <exception cref="ArgumentException">The routing id is empty or longer than 255 bytes, which no peer's is. The message has no
    /// part.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    public bool TrySend(ReadOnlySpan<byte> routingId, MessageBuilder message) => TrySend(routingId, message, out _);

    /// <summary>Sends a message of several parts, whole or not at all if it need not wait, and says why not.</summary>
    /// <param name="routingId">The peer, by the id that its messages come with.</param>
    /// <param name="message">The message, of at least one part; empty when it was accepted.</param>
    /// <param name="error">None; with <see cref="RouterOptions.Mandatory"/> Again: the peer is at its high-water mark or at a byte limit,
    /// or HostUnreachable: there is no such peer.</param>
    /// <returns>True if it was accepted.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="message"/> is null.</exception>
    /// <exception cref="ObjectDisposedException">The socket or the message is disposed.</exception>
    /// <exception cref="ArgumentException">The routing id is empty or longer than 255 bytes, which no peer's is. The message has no
    /// part.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    public bool TrySend(ReadOnlySpan<byte> routingId, MessageBuilder message, out ZlinkError error)
    {
        error = Sender.TrySend(Named(routingId), message);
        return error == ZlinkError.None;
    }

    /// <summary>Sends a message of several parts, whole or not at all, waiting at most <see cref="SocketOptions.SendTimeout"/>, blocking
    /// the calling thread.</summary>
    /// <param name="routingId">The peer, by the id that its messages come with.</param>
    /// <param name="message">The message, of at least one part; empty when it was accepted.</param>
    /// <exception cref="TimeoutException">Nobody had room in time.</exception>
    /// <exception cref="ZlinkException">HostUnreachable: no such peer, with <see cref="RouterOptions.Mandatory"/>.
    /// ContextTerminated.</exception>
    /// <exception cref="ArgumentNullException"><paramref name="message"/> is null.</exception>
    /// <exception cref="ObjectDisposedException">The socket or the message is disposed.</exception>
    /// <exception cref="ArgumentException">The routing id is empty or longer than 255 bytes, which no peer's is. The message has no
    /// part.</exception>
    /// <exception cref="InvalidOperationException">It would have to wait, and was called on a shard.</exception>
    public void Send(ReadOnlySpan<byte> routingId, MessageBuilder message) => Sender.Send(Named(routingId), message);

    /// <summary>Sends a message of several parts, whole or not at all, blocking the calling thread for room.</summary>
    /// <param name="routingId">The peer, by the id that its messages come with.</param>
    /// <param name="message">The message, of at least one part; empty when it was accepted.</param>
    /// <param name="timeout">How long; <see cref="Timeout.InfiniteTimeSpan"/> for as long as it takes, zero not to wait.</param>
    /// <exception cref="TimeoutException">Nobody had room in time.</exception>
    /// <exception cref="ZlinkException">HostUnreachable: no such peer, with <see cref="RouterOptions.Mandatory"/>.
    /// ContextTerminated.</exception>
    /// <exception cref="ArgumentNullException"><paramref name="message"/> is null.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The timeout is negative and not infinite.</exception>
    /// <exception cref="ObjectDisposedException">The socket or the message is disposed.</exception>
    /// <exception cref="ArgumentException">The routing id is empty or longer than 255 bytes, which no peer's is. The message has no
    /// part.</exception>
    /// <exception cref="InvalidOperationException">It would have to wait, and was called on a shard.</exception>
    public void Send(ReadOnlySpan<byte> routingId, MessageBuilder message, TimeSpan timeout) =>
        Sender.Send(Named(routingId), message, OptionRange.Time(timeout, mayBeInfinite: true));

    /// <summary>Sends a message of several parts, whole or not at all, waiting for room if need be.</summary>
    /// <param name="routingId">The peer, by the id that its messages come with.</param>
    /// <param name="message">The message, of at least one part; empty when it was accepted.</param>
    /// <param name="cancellationToken">Ends the wait; nothing is sent then.</param>
    /// <returns>Complete when the message was accepted; allocates nothing, waiting or not.</returns>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    /// <exception cref="ZlinkException">HostUnreachable: no such peer, with <see cref="RouterOptions.Mandatory"/>.
    /// ContextTerminated.</exception>
    /// <exception cref="ArgumentNullException"><paramref name="message"/> is null.</exception>
    /// <exception cref="ObjectDisposedException">The socket or the message is disposed.</exception>
    /// <exception cref="ArgumentException">The routing id is empty or longer than 255 bytes, which no peer's is. The message has no
    /// part.</exception>
    /// <exception cref="InvalidOperationException">The builder was touched while this waited; nothing of it was sent.</exception>
    public ValueTask SendAsync(ReadOnlyMemory<byte> routingId, MessageBuilder message, CancellationToken cancellationToken = default) =>
        Sender.SendAsync(Named(routingId.Span), message, cancellationToken);

    /// <summary>Passes a received message on, without a copy of long parts if it need not wait.</summary>
    /// <param name="routingId">The peer, by the id that its messages come with.</param>
    /// <param name="message">A received message; accepted, it is ended.</param>
    /// <returns>False if it would have to wait, or there is no such peer with <see cref="RouterOptions.Mandatory"/>.</returns>
    /// <exception cref="ObjectDisposedException">The socket or the message is disposed.</exception>
    /// <exception cref="InvalidOperationException">There is no message in it.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    /// <exception cref="ArgumentException">The routing id is empty or longer than 255 bytes, which no peer's is.</exception>
    public bool TrySend(ReadOnlySpan<byte> routingId, in Message message) => TrySend(routingId, in message, out _);

    /// <summary>Passes a received message on, without a copy of long parts if it need not wait, and says why not.</summary>
    /// <param name="routingId">The peer, by the id that its messages come with.</param>
    /// <param name="message">A received message; accepted, it is ended.</param>
    /// <param name="error">None; with <see cref="RouterOptions.Mandatory"/> Again: the peer is at its high-water mark or at a byte limit,
    /// or HostUnreachable: there is no such peer.</param>
    /// <returns>True if it was accepted.</returns>
    /// <exception cref="ObjectDisposedException">The socket or the message is disposed.</exception>
    /// <exception cref="InvalidOperationException">There is no message in it.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    /// <exception cref="ArgumentException">The routing id is empty or longer than 255 bytes, which no peer's is.</exception>
    public bool TrySend(ReadOnlySpan<byte> routingId, in Message message, out ZlinkError error)
    {
        error = Sender.TrySend(Named(routingId), in message);
        return error == ZlinkError.None;
    }

    /// <summary>Passes a received message on, without a copy of long parts, waiting at most <see cref="SocketOptions.SendTimeout"/>,
    /// blocking the calling thread.</summary>
    /// <param name="routingId">The peer, by the id that its messages come with.</param>
    /// <param name="message">A received message; accepted, it is ended.</param>
    /// <exception cref="TimeoutException">Nobody had room in time.</exception>
    /// <exception cref="ZlinkException">HostUnreachable: no such peer, with <see cref="RouterOptions.Mandatory"/>.
    /// ContextTerminated.</exception>
    /// <exception cref="ObjectDisposedException">The socket or the message is disposed.</exception>
    /// <exception cref="InvalidOperationException">There is no message in it; or it would have to wait, and was called on a
    /// shard.</exception>
    /// <exception cref="ArgumentException">The routing id is empty or longer than 255 bytes, which no peer's is.</exception>
    public void Send(ReadOnlySpan<byte> routingId, in Message message) => Sender.Send(Named(routingId), in message);

    /// <summary>Passes a received message on, without a copy of long parts, blocking the calling thread for room.</summary>
    /// <param name="routingId">The peer, by the id that its messages come with.</param>
    /// <param name="message">A received message; accepted, it is ended.</param>
    /// <param name="timeout">How long; <see cref="Timeout.InfiniteTimeSpan"/> for as long as it takes, zero not to wait.</param>
    /// <exception cref="TimeoutException">Nobody had room in time.</exception>
    /// <exception cref="ZlinkException">HostUnreachable: no such peer, with <see cref="RouterOptions.Mandatory"/>.
    /// ContextTerminated.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The timeout is negative and not infinite.</exception>
    /// <exception cref="ObjectDisposedException">The socket or the message is disposed.</exception>
    /// <exception cref="InvalidOperationException">There is no message in it; or it would have to wait, and was called on a
    /// shard.</exception>
    /// <exception cref="ArgumentException">The routing id is empty or longer than 255 bytes, which no peer's is.</exception>
    public void Send(ReadOnlySpan<byte> routingId, in Message message, TimeSpan timeout) =>
        Sender.Send(Named(routingId), in message, OptionRange.Time(timeout, mayBeInfinite: true));

    /// <summary>Passes a received message on, without a copy of long parts, waiting for room if need be.</summary>
    /// <param name="routingId">The peer, by the id that its messages come with.</param>
    /// <param name="message">A received message; accepted, it is ended.</param>
    /// <param name="cancellationToken">Ends the wait; nothing is sent then.</param>
    /// <returns>Complete when the message was accepted; allocates nothing, waiting or not.</returns>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    /// <exception cref="ZlinkException">HostUnreachable: no such peer, with <see cref="RouterOptions.Mandatory"/>.
    /// ContextTerminated.</exception>
    /// <exception cref="ObjectDisposedException">The socket or the message is disposed.</exception>
    /// <exception cref="InvalidOperationException">There is no message in it.</exception>
    /// <exception cref="ArgumentException">The routing id is empty or longer than 255 bytes, which no peer's is.</exception>
    public ValueTask SendAsync(ReadOnlyMemory<byte> routingId, in Message message, CancellationToken cancellationToken = default) =>
        Sender.SendAsync(Named(routingId.Span), in message, cancellationToken);

    /// <summary>Sends memory that is handed over, without a copy where it is long: it is disposed when it was sent; if the send fails it
    /// stays the caller's (a StreamSocket takes it in any case).</summary>
    /// <param name="routingId">The peer, by the id that its messages come with.</param>
    /// <param name="payload">Its owner.</param>
    /// <param name="length">How many of its bytes are the message.</param>
    /// <param name="cancellationToken">Ends the wait; nothing is sent then.</param>
    /// <returns>Complete when the message was accepted.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="payload"/> is null.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The memory has fewer bytes.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    /// <exception cref="ZlinkException">HostUnreachable: no such peer, with <see cref="RouterOptions.Mandatory"/>.
    /// ContextTerminated.</exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    /// <exception cref="ArgumentException">The routing id is empty or longer than 255 bytes, which no peer's is.</exception>
    public ValueTask SendAsync(ReadOnlyMemory<byte> routingId, System.Buffers.IMemoryOwner<byte> payload, int length,
        CancellationToken cancellationToken = default) => Sender.SendAsync(Named(routingId.Span), payload, length, cancellationToken);

    /// <summary>Passes received messages on to one peer in order, as many as need not wait, without a copy of long parts. Those that are
    /// accepted are ended; the others stay the caller's.</summary>
    /// <param name="routingId">The peer, by the id that its messages come with.</param>
    /// <param name="messages">Received messages, as <see cref="ReceivingSocket.ReceiveMany"/> gave them.</param>
    /// <param name="error">None; with <see cref="RouterOptions.Mandatory"/> Again: the peer is at its high-water mark or at a byte limit,
    /// or HostUnreachable: there is no such peer. ContextTerminated, behind the first message.</param>
    /// <returns>How many were accepted, from the first one on: all of them, unless there is an error.</returns>
    /// <exception cref="ObjectDisposedException">The socket or a message is disposed; the messages before that one were sent.</exception>
    /// <exception cref="InvalidOperationException">There is no message in one of them; those before it were sent.</exception>
    /// <exception cref="ZlinkException">ContextTerminated; nothing was sent.</exception>
    /// <exception cref="ArgumentException">The routing id is empty or longer than 255 bytes, which no peer's is.</exception>
    public int SendMany(ReadOnlySpan<byte> routingId, ReadOnlySpan<Message> messages, out ZlinkError error) =>
        Sender.SendMany(Named(routingId), messages, out error);

    /// <summary>Sends messages of one part each to one peer in order, as many as need not wait.</summary>
    /// <param name="routingId">The peer, by the id that its messages come with.</param>
    /// <param name="payloads">Any bytes, also none; copied.</param>
    /// <param name="error">None; with <see cref="RouterOptions.Mandatory"/> Again: the peer is at its high-water mark or at a byte limit,
    /// or HostUnreachable: there is no such peer. ContextTerminated, behind the first message.</param>
    /// <returns>How many were accepted, from the first one on: all of them, unless there is an error.</returns>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    /// <exception cref="ArgumentException">The routing id is empty or longer than 255 bytes, which no peer's is. A payload is longer than a
    /// frame can be; those before it were sent.</exception>
    /// <exception cref="ZlinkException">ContextTerminated; nothing was sent.</exception>
    public int SendMany(ReadOnlySpan<byte> routingId, ReadOnlySpan<ReadOnlyMemory<byte>> payloads, out ZlinkError error) =>
        Sender.SendMany(Named(routingId), payloads, out error);

    /// <summary>Passes received messages on to one peer in order, without a copy of long parts, waiting for room until all are accepted.
    /// Those that are accepted are ended; the others stay the caller's.</summary>
    /// <param name="routingId">The peer, by the id that its messages come with.</param>
    /// <param name="messages">Received messages; unchanged until the task completes.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <returns>How many were accepted, from the first one on. Fewer than there are only if something ended the wait behind the first one:
    /// the next call says what. Allocates nothing, waiting or not.</returns>
    /// <exception cref="OperationCanceledException">The token was cancelled; nothing was sent.</exception>
    /// <exception cref="ZlinkException">HostUnreachable: no such peer, with <see cref="RouterOptions.Mandatory"/>. ContextTerminated.
    /// Nothing was sent.</exception>
    /// <exception cref="ObjectDisposedException">The socket or a message is disposed; the messages before that one were sent.</exception>
    /// <exception cref="InvalidOperationException">There is no message in one of them; those before it were sent.</exception>
    /// <exception cref="ArgumentException">The routing id is empty or longer than 255 bytes, which no peer's is.</exception>
    public ValueTask<int> SendManyAsync(ReadOnlyMemory<byte> routingId, ReadOnlyMemory<Message> messages,
        CancellationToken cancellationToken = default) => Sender.SendManyAsync(Named(routingId), messages, cancellationToken);

    /// <summary>Sends messages of one part each to one peer in order, waiting for room until all are accepted.</summary>
    /// <param name="routingId">The peer, by the id that its messages come with.</param>
    /// <param name="payloads">Any bytes, also none; unchanged until the task completes.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <returns>How many were accepted, from the first one on. Fewer than there are only if something ended the wait behind the first one:
    /// the next call says what. Allocates nothing, waiting or not.</returns>
    /// <exception cref="OperationCanceledException">The token was cancelled; nothing was sent.</exception>
    /// <exception cref="ZlinkException">HostUnreachable: no such peer, with <see cref="RouterOptions.Mandatory"/>. ContextTerminated.
    /// Nothing was sent.</exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed; what was accepted before was sent.</exception>
    /// <exception cref="ArgumentException">The routing id is empty or longer than 255 bytes, which no peer's is. A payload is longer than a
    /// frame can be; those before it were sent.</exception>
    public ValueTask<int> SendManyAsync(ReadOnlyMemory<byte> routingId, ReadOnlyMemory<ReadOnlyMemory<byte>> payloads,
        CancellationToken cancellationToken = default) => Sender.SendManyAsync(Named(routingId), payloads, cancellationToken);

    /// <summary>Whether a message for this peer would be taken into its queue now, which tells a program with
    /// <see cref="RouterOptions.Mandatory"/> whom it can send to before it has a message. A send a moment later may find another
    /// state.</summary>
    /// <param name="routingId">The peer, by the id that its messages come with.</param>
    /// <returns>False: no such peer, it is at its high-water mark or at a byte limit, or other sends wait for it. While false is returned
    /// for want of room, <see cref="Poller"/> and the socket's waits notice when there is room.</returns>
    /// <exception cref="ArgumentException">The routing id is empty or longer than 255 bytes, which no peer's is.</exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    public bool CanSendTo(ReadOnlySpan<byte> routingId)
    {
        ThrowIfEnded();
        return _core.CanSendTo(Named(routingId));
    }

    /// <summary>Answers a message by the connection that it came by, if that need not wait: whatever the peer's routing id is, and whoever
    /// has that id by now. Nothing is dropped, with and without <see cref="RouterOptions.Mandatory"/>.</summary>
    /// <param name="received">A message that this socket received, not disposed yet, or a copy of one.</param>
    /// <param name="payload">Any bytes, also none; copied.</param>
    /// <param name="error">None, Again: the peer is at its high-water mark or at a byte limit, or HostUnreachable: the connection is over,
    /// be it that the peer has connected anew.</param>
    /// <returns>True if it was accepted. If this side had made the connection and it is lost then, what waits in the queue goes out by the
    /// next one, as always.</returns>
    /// <exception cref="ArgumentException">The first message is none that this socket received. Or the payload is longer than a frame can
    /// be.</exception>
    /// <exception cref="ObjectDisposedException">The socket or the message is disposed.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    public bool TrySendTo(in Message received, ReadOnlySpan<byte> payload, out ZlinkError error)
    {
        error = Sender.TrySendTo(ConnectionOf(received), payload);
        return error == ZlinkError.None;
    }

    /// <summary>As <see cref="TrySendTo(in Message, ReadOnlySpan{byte}, out ZlinkError)"/>, for a message of several parts, whole or not at
    /// all.</summary>
    /// <param name="received">A message that this socket received, not disposed yet, or a copy of one.</param>
    /// <param name="message">The message, of at least one part; empty when it was accepted.</param>
    /// <param name="error">As there.</param>
    /// <returns>True if it was accepted.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="message"/> is null.</exception>
    /// <exception cref="ArgumentException">The first message is none that this socket received. Or the other has no part.</exception>
    /// <exception cref="ObjectDisposedException">The socket or a message is disposed.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    public bool TrySendTo(in Message received, MessageBuilder message, out ZlinkError error)
    {
        error = Sender.TrySendTo(ConnectionOf(received), message);
        return error == ZlinkError.None;
    }

    /// <summary>As <see cref="TrySendTo(in Message, ReadOnlySpan{byte}, out ZlinkError)"/>, for a received message, without a copy of long
    /// parts.</summary>
    /// <param name="received">A message that this socket received, not disposed yet, or a copy of one.</param>
    /// <param name="message">A received message, which may be the same; accepted, it is ended.</param>
    /// <param name="error">As there.</param>
    /// <returns>True if it was accepted.</returns>
    /// <exception cref="ArgumentException">The first message is none that this socket received.</exception>
    /// <exception cref="ObjectDisposedException">The socket or a message is disposed.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    /// <exception cref="InvalidOperationException">There is no message in the second one.</exception>
    public bool TrySendTo(in Message received, in Message message, out ZlinkError error)
    {
        error = Sender.TrySendTo(ConnectionOf(received), in message);
        return error == ZlinkError.None;
    }

    /// <summary>Answers a message by the connection that it came by, as
    /// <see cref="TrySendTo(in Message, ReadOnlySpan{byte}, out ZlinkError)"/>, waiting for room if need be.</summary>
    /// <param name="received">A message that this socket received, not disposed yet, or a copy of one.</param>
    /// <param name="payload">Any bytes, also none; unchanged until the task completes.</param>
    /// <param name="cancellationToken">Ends the wait; nothing is sent then.</param>
    /// <returns>Complete when the message was accepted. Allocates nothing, waiting or not. <paramref name="received"/> may be disposed at
    /// once.</returns>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    /// <exception cref="ArgumentException">The first message is none that this socket received. Or the payload is longer than a frame can
    /// be.</exception>
    /// <exception cref="ObjectDisposedException">The socket or the message is disposed.</exception>
    /// <exception cref="ZlinkException">HostUnreachable: the connection is over. ContextTerminated.</exception>
    public ValueTask SendToAsync(in Message received, ReadOnlyMemory<byte> payload, CancellationToken cancellationToken = default) =>
        Sender.SendToAsync(ConnectionOf(received), payload, cancellationToken);

    /// <summary>As <see cref="SendToAsync(in Message, ReadOnlyMemory{byte}, CancellationToken)"/>, for a message of several parts, whole or
    /// not at all.</summary>
    /// <param name="received">A message that this socket received, not disposed yet, or a copy of one.</param>
    /// <param name="message">The message, of at least one part; empty when it was accepted, and not to be touched before.</param>
    /// <param name="cancellationToken">Ends the wait; nothing is sent then.</param>
    /// <returns>Complete when the message was accepted.</returns>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    /// <exception cref="ArgumentNullException"><paramref name="message"/> is null.</exception>
    /// <exception cref="InvalidOperationException">The builder was touched while this waited; nothing of it was sent.</exception>
    /// <exception cref="ArgumentException">The first message is none that this socket received. Or the other has no part.</exception>
    /// <exception cref="ObjectDisposedException">The socket or a message is disposed.</exception>
    /// <exception cref="ZlinkException">HostUnreachable: the connection is over. ContextTerminated.</exception>
    public ValueTask SendToAsync(in Message received, MessageBuilder message, CancellationToken cancellationToken = default) =>
        Sender.SendToAsync(ConnectionOf(received), message, cancellationToken);

    /// <summary>As <see cref="SendToAsync(in Message, ReadOnlyMemory{byte}, CancellationToken)"/>, for a received message, without a copy
    /// of long parts.</summary>
    /// <param name="received">A message that this socket received, not disposed yet, or a copy of one.</param>
    /// <param name="message">A received message, which may be the same; accepted, it is ended.</param>
    /// <param name="cancellationToken">Ends the wait; nothing is sent then.</param>
    /// <returns>Complete when the message was accepted.</returns>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    /// <exception cref="InvalidOperationException">There is no message in the second one.</exception>
    /// <exception cref="ArgumentException">The first message is none that this socket received.</exception>
    /// <exception cref="ObjectDisposedException">The socket or a message is disposed.</exception>
    /// <exception cref="ZlinkException">HostUnreachable: the connection is over. ContextTerminated.</exception>
    public ValueTask SendToAsync(in Message received, in Message message, CancellationToken cancellationToken = default) =>
        Sender.SendToAsync(ConnectionOf(received), in message, cancellationToken);

    /// <exception cref="ArgumentException">This socket did not receive it.</exception>
    private PeerSlot ConnectionOf(in Message received)
    {
        ThrowIfEnded();
        return received.Sender is PeerIdentity sender && !ReferenceEquals(sender, PeerIdentity.Unknown) && sender.Slot.Pipe is var link
            && (link is null || ReferenceEquals(link.Socket, _core)) ? sender.Slot
            : throw new ArgumentException("This is no message that a peer of this socket sent: pass a message that this ROUTER received.",
                nameof(received));
    }

    /// <summary>What no peer can ever be called is a mistake of the caller's, such as the routing id of a message that was not received
    /// from a ROUTER: told, where an id that is only unknown is dropped.</summary>
    /// <remarks>Not in <see cref="MessageSender"/>: what a <see cref="Proxy"/> takes for an id comes from a peer, and whatever that is must
    /// not end the proxy. One comparison.</remarks>
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
