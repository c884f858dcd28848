using Net.Zlink.Sockets;

namespace Net.Zlink;

/// <summary>A socket that receives messages and sends them to peers of its own choice.</summary>
public abstract class DuplexSocket : ReceivingSocket, IMessageSender
{
    private protected DuplexSocket(ZlinkContext context, SocketCore core, ZmpSocketOptions options)
        : base(context, core, options) => Sender = new MessageSender(core, options);

    internal readonly MessageSender Sender;

    /// <inheritdoc/>
    public bool TrySend(ReadOnlySpan<byte> payload) => Sender.TrySend([], payload) == ZlinkError.None;

    /// <inheritdoc/>
    public void Send(ReadOnlySpan<byte> payload, TimeSpan? timeout = null) => Sender.Send([], payload, OptionRange.WaitTime(timeout));

    /// <inheritdoc/>
    public ValueTask SendAsync(ReadOnlyMemory<byte> payload, CancellationToken cancellationToken = default) =>
        Sender.SendAsync([], payload, cancellationToken);

    /// <summary>Sends memory that is handed over, without a copy where it is long: it is disposed when it was sent; if the send fails it
    /// stays the caller's (a StreamSocket takes it in any case).</summary>
    /// <param name="payload">Its owner.</param>
    /// <param name="length">How many of its bytes are the message.</param>
    /// <param name="cancellationToken">Ends the wait; nothing is sent then.</param>
    /// <returns>Complete when the message was accepted.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="payload"/> is null.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The memory has fewer bytes.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    public ValueTask SendAsync(System.Buffers.IMemoryOwner<byte> payload, int length, CancellationToken cancellationToken = default) =>
        Sender.SendAsync([], payload, length, cancellationToken);

    /// <inheritdoc/>
    public bool TrySend(MessageBuilder message) => Sender.TrySend([], message) == ZlinkError.None;

    /// <summary>Sends a message of several parts, whole or not at all, blocking the calling thread for room.</summary>
    /// <param name="message">The message, of at least one part; empty when it was accepted.</param>
    /// <param name="timeout">How long it may wait; <see cref="Timeout.InfiniteTimeSpan"/> for as long as it takes, zero not to wait. Null:
    /// <see cref="SocketOptions.SendTimeout"/>.</param>
    /// <exception cref="TimeoutException">Nobody had room in time.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    /// <exception cref="ArgumentNullException"><paramref name="message"/> is null.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The timeout is negative and not infinite.</exception>
    /// <exception cref="ObjectDisposedException">The socket or the message is disposed.</exception>
    /// <exception cref="ArgumentException">The message has no part, or several with Conflate.</exception>
    /// <exception cref="InvalidOperationException">It would have to wait, and was called on a shard.</exception>
    public void Send(MessageBuilder message, TimeSpan? timeout = null) => Sender.Send([], message, OptionRange.WaitTime(timeout));

    /// <inheritdoc/>
    public ValueTask SendAsync(MessageBuilder message, CancellationToken cancellationToken = default) =>
        Sender.SendAsync([], message, cancellationToken);

    /// <inheritdoc/>
    public bool TrySend(in Message message) => Sender.TrySend([], in message) == ZlinkError.None;

    /// <summary>Passes a received message on, without a copy of long parts, blocking the calling thread for room.</summary>
    /// <param name="message">A received message; accepted, it is ended.</param>
    /// <param name="timeout">How long it may wait; <see cref="Timeout.InfiniteTimeSpan"/> for as long as it takes, zero not to wait. Null:
    /// <see cref="SocketOptions.SendTimeout"/>.</param>
    /// <exception cref="TimeoutException">Nobody had room in time.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The timeout is negative and not infinite.</exception>
    /// <exception cref="ObjectDisposedException">The socket or the message is disposed.</exception>
    /// <exception cref="InvalidOperationException">There is no message in it; or it would have to wait, and was called on a
    /// shard.</exception>
    /// <exception cref="ArgumentException">It has several parts, with Conflate: it stays the caller's.</exception>
    public void Send(in Message message, TimeSpan? timeout = null) => Sender.Send([], in message, OptionRange.WaitTime(timeout));

    /// <inheritdoc/>
    public ValueTask SendAsync(in Message message, CancellationToken cancellationToken = default) =>
        Sender.SendAsync([], in message, cancellationToken);

    /// <summary>Passes received messages on in order, as many as need not wait, without a copy of long parts. Those that are accepted are
    /// ended; the others stay the caller's.</summary>
    /// <param name="messages">Received messages, as <see cref="ReceivingSocket.ReceiveMany"/> gave them.</param>
    /// <returns>How many were accepted, from the first one on: all of them, unless one would have to wait.</returns>
    /// <exception cref="ObjectDisposedException">The socket or a message is disposed; the messages before that one were sent.</exception>
    /// <exception cref="InvalidOperationException">There is no message in one of them; those before it were sent.</exception>
    /// <exception cref="ArgumentException">A message has several parts, with Conflate; those before it were sent.</exception>
    /// <exception cref="ZlinkException">ContextTerminated; nothing was sent.</exception>
    public int SendMany(ReadOnlySpan<Message> messages) => Sender.SendMany([], messages, out _);

    /// <summary>Sends messages of one part each in order, as many as need not wait.</summary>
    /// <param name="payloads">Any bytes, also none; copied.</param>
    /// <returns>How many were accepted, from the first one on: all of them, unless one would have to wait.</returns>
    /// <exception cref="ObjectDisposedException">The socket is disposed; what was accepted before is sent.</exception>
    /// <exception cref="ArgumentException">A payload is longer than a frame can be; those before it were sent.</exception>
    /// <exception cref="ZlinkException">ContextTerminated; nothing was sent.</exception>
    public int SendMany(ReadOnlySpan<ReadOnlyMemory<byte>> payloads) => Sender.SendMany([], payloads, out _);

    /// <summary>Passes received messages on in order, without a copy of long parts, waiting for room until all are accepted. Those that are
    /// accepted are ended; the others stay the caller's.</summary>
    /// <param name="messages">Received messages; unchanged until the task completes.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <returns>How many were accepted, from the first one on. Fewer than there are only if something ended the wait behind the first one:
    /// the next call says what. Allocates nothing, waiting or not.</returns>
    /// <exception cref="OperationCanceledException">The token was cancelled; nothing was sent.</exception>
    /// <exception cref="ZlinkException">ContextTerminated. Nothing was sent.</exception>
    /// <exception cref="ObjectDisposedException">The socket or a message is disposed; the messages before that one were sent.</exception>
    /// <exception cref="InvalidOperationException">There is no message in one of them; those before it were sent.</exception>
    /// <exception cref="ArgumentException">A message has several parts, with Conflate; those before it were sent.</exception>
    public ValueTask<int> SendManyAsync(ReadOnlyMemory<Message> messages, CancellationToken cancellationToken = default) =>
        Sender.SendManyAsync(default, messages, cancellationToken);

    /// <summary>Sends messages of one part each in order, waiting for room until all are accepted.</summary>
    /// <param name="payloads">Any bytes, also none; unchanged until the task completes.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <returns>How many were accepted, from the first one on. Fewer than there are only if something ended the wait behind the first one:
    /// the next call says what. Allocates nothing, waiting or not.</returns>
    /// <exception cref="OperationCanceledException">The token was cancelled; nothing was sent.</exception>
    /// <exception cref="ZlinkException">ContextTerminated. Nothing was sent.</exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed; what was accepted before was sent.</exception>
    /// <exception cref="ArgumentException">A payload is longer than a frame can be; those before it were sent.</exception>
    public ValueTask<int> SendManyAsync(ReadOnlyMemory<ReadOnlyMemory<byte>> payloads, CancellationToken cancellationToken = default) =>
        Sender.SendManyAsync(default, payloads, cancellationToken);
}
