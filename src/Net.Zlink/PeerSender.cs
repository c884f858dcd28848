using Net.Zlink.Sockets.Links;

namespace Net.Zlink;

/// <summary>Sends to one peer: of a ROUTER by its routing id or by a message of it, of a STREAM by its number, of an XPUB by a
/// notice.</summary>
/// <remarks>
/// <para>A small value that holds no resource. Thread-safe, as the socket is. The default value throws InvalidOperationException.</para>
/// <para>
/// <see cref="RouterSocket.To(RoutingId)"/> names the peer that has the id when a message is sent. It is valid as long as the bytes of the
/// id are. <see cref="RouterSocket.To(in Message)"/> names a connection, and outlives the message: <see cref="SendFailure.NoPeer"/> is the
/// answer after the connection has ended.
/// </para>
/// <para>Text, values and transferred memory are sent by extension methods, which do not box this value.</para>
/// </remarks>
/// <example>
/// <code>
/// using Message request = await router.ReceiveAsync();
/// await router.To(request).SendAsync("reply");
/// </code>
/// </example>
public readonly struct PeerSender : IMessageSender
{
    private readonly ZmpSocket? _socket;
    private readonly RoutingId _id;
    private readonly object? _peer;

    internal PeerSender(ZmpSocket socket, RoutingId id) => (_socket, _id) = (socket, id);

    internal PeerSender(ZmpSocket socket, PeerSlot connection) => (_socket, _peer) = (socket, connection);

    internal PeerSender(StreamPeer peer) => _peer = peer;

    private SendTarget Target => new(_id.Span, (PeerSlot?)_peer);

    private StreamPeer Stream => _peer as StreamPeer ?? throw new InvalidOperationException(
        "This PeerSender is the default value, which names no peer: get one by To of a ROUTER, XPUB or STREAM socket.");

    /// <inheritdoc/>
    public SendResult TrySend(ReadOnlySpan<byte> payload) =>
        _socket is { } socket ? socket.Sender.TrySend(Target, payload) : Stream.TrySend(payload);

    /// <inheritdoc/>
    public SendResult TrySend(MessageBuilder message) =>
        _socket is { } socket ? socket.Sender.TrySend(Target, message) : Stream.TrySend(message);

    /// <inheritdoc/>
    public SendResult TrySend(in Message message) =>
        _socket is { } socket ? socket.Sender.TrySend(Target, in message) : Stream.TrySend(in message);

    /// <inheritdoc/>
    public void Send(ReadOnlySpan<byte> payload, TimeSpan? timeout = null)
    {
        if (_socket is { } socket)
        {
            socket.Sender.Send(Target, payload, OptionRange.WaitTime(timeout));
        }
        else
        {
            Stream.Send(payload, timeout);
        }
    }

    /// <inheritdoc/>
    public ValueTask SendAsync(ReadOnlyMemory<byte> payload, CancellationToken cancellationToken = default) => _socket is { } socket
        ? socket.Sender.SendAsync(Target, payload, cancellationToken) : Stream.SendAsync(payload, cancellationToken);

    /// <inheritdoc/>
    public ValueTask SendAsync(MessageBuilder message, CancellationToken cancellationToken = default) => _socket is { } socket
        ? socket.Sender.SendAsync(Target, message, cancellationToken) : Stream.SendAsync(message, cancellationToken);

    /// <inheritdoc/>
    public ValueTask SendAsync(in Message message, CancellationToken cancellationToken = default) => _socket is { } socket
        ? socket.Sender.SendAsync(Target, in message, cancellationToken) : Stream.SendAsync(in message, cancellationToken);

    /// <summary>Messages of one part, queued under one lock. 0 says nothing about why.</summary>
    internal int TrySendRun(ReadOnlySpan<ReadOnlyMemory<byte>> payloads) =>
        _peer is null && _socket is { } socket ? socket.Core.TrySendMany(_id.Span, payloads) : 0;

    // These are called by the extension methods of the same names.
    internal void Send(MessageBuilder message, TimeSpan? timeout)
    {
        if (_socket is { } socket)
        {
            socket.Sender.Send(Target, message, OptionRange.WaitTime(timeout));
        }
        else
        {
            Stream.Send(message, timeout);
        }
    }

    internal void Send(in Message message, TimeSpan? timeout)
    {
        if (_socket is { } socket)
        {
            socket.Sender.Send(Target, in message, OptionRange.WaitTime(timeout));
        }
        else
        {
            Stream.Send(in message, timeout);
        }
    }

    internal ValueTask SendAsync(System.Buffers.IMemoryOwner<byte> payload, int length, CancellationToken cancellation) =>
        _socket is { } socket ? socket.Sender.SendAsync(Target, payload, length, cancellation)
            : Stream.SendAsync(payload, length, cancellation);
}
