using Net.Zlink.Sockets;

namespace Net.Zlink;

/// <summary>A socket that receives messages, and sends them to peers of its own choice.</summary>
public abstract class DuplexSocket : ReceivingSocket, IMessageSender
{
    private protected DuplexSocket(SocketCore core, ZmpSocketOptions options)
        : base(core, options)
    {
    }

    /// <inheritdoc/>
    public SendResult TrySend(ReadOnlySpan<byte> payload) => Sender.TrySend([], connection: null, payload);

    /// <inheritdoc/>
    public void Send(ReadOnlySpan<byte> payload, TimeSpan? timeout = null) =>
        Sender.Send([], connection: null, payload, OptionRange.WaitTime(timeout));

    /// <inheritdoc/>
    public ValueTask SendAsync(ReadOnlyMemory<byte> payload, CancellationToken cancellationToken = default) =>
        Sender.SendAsync([], connection: null, payload, cancellationToken);

    /// <inheritdoc/>
    public SendResult TrySend(MessageBuilder message) => Sender.TrySend([], connection: null, message);

    /// <inheritdoc/>
    public ValueTask SendAsync(MessageBuilder message, CancellationToken cancellationToken = default) =>
        Sender.SendAsync([], connection: null, message, cancellationToken);

    /// <inheritdoc/>
    public SendResult TrySend(in Message message) => Sender.TrySend([], connection: null, in message);

    /// <inheritdoc/>
    public ValueTask SendAsync(in Message message, CancellationToken cancellationToken = default) =>
        Sender.SendAsync([], connection: null, in message, cancellationToken);

    /// <summary>
    /// Forwards received messages in order without waiting, without a copy of long parts. Accepted ones are ended; the others still belong
    /// to the caller.
    /// </summary>
    /// <param name="messages">Messages from <see cref="ReceivingSocket.ReceiveMany"/>.</param>
    /// <returns>How many were accepted, from the first on. Fewer than all if one would have to wait.</returns>
    /// <exception cref="ObjectDisposedException">The socket or a message is disposed. The messages before it were sent.</exception>
    /// <exception cref="InvalidOperationException">A message is empty. The messages before it were sent.</exception>
    /// <exception cref="ArgumentException">A message has several parts, with Conflate. The messages before it were sent.</exception>
    /// <exception cref="ZlinkException">ContextTerminated. Nothing was sent.</exception>
    public int SendMany(ReadOnlySpan<Message> messages) => Sender.SendMany([], connection: null, messages);

    /// <summary>Sends messages of one part each in order, without waiting.</summary>
    /// <param name="payloads">The payloads, which are copied.</param>
    /// <returns>How many were accepted, from the first on. Fewer than all if one would have to wait.</returns>
    /// <exception cref="ObjectDisposedException">The socket is disposed. What was accepted before is sent.</exception>
    /// <exception cref="ArgumentException">A payload is longer than a frame can be. Those before it were sent.</exception>
    /// <exception cref="ZlinkException">ContextTerminated. Nothing was sent.</exception>
    public int SendMany(ReadOnlySpan<ReadOnlyMemory<byte>> payloads) => Sender.SendMany([], connection: null, payloads);

    /// <summary>
    /// Forwards received messages in order without a copy of long parts, and waits until all are accepted. Accepted ones are ended; the
    /// others still belong to the caller.
    /// </summary>
    /// <param name="messages">Received messages. They must not change until the task completes.</param>
    /// <param name="cancellationToken">Cancels the wait.</param>
    /// <returns>
    /// How many were accepted, from the first on. Fewer than all only if the wait ended after the first one; the next call then fails with
    /// the reason. Allocates nothing.
    /// </returns>
    /// <exception cref="OperationCanceledException">The token was cancelled. Nothing was sent.</exception>
    /// <exception cref="ZlinkException">ContextTerminated. Nothing was sent.</exception>
    /// <exception cref="ObjectDisposedException">The socket or a message is disposed. The messages before it were sent.</exception>
    /// <exception cref="InvalidOperationException">A message is empty. The messages before it were sent.</exception>
    /// <exception cref="ArgumentException">A message has several parts, with Conflate. The messages before it were sent.</exception>
    public ValueTask<int> SendManyAsync(ReadOnlyMemory<Message> messages, CancellationToken cancellationToken = default) =>
        Sender.SendManyAsync(default, connection: null, messages, cancellationToken);

    /// <summary>Sends messages of one part each in order, and waits until all are accepted.</summary>
    /// <param name="payloads">The payloads. They must not change until the task completes.</param>
    /// <param name="cancellationToken">Cancels the wait.</param>
    /// <returns>
    /// How many were accepted, from the first on. Fewer than all only if the wait ended after the first one; the next call then fails with
    /// the reason. Allocates nothing.
    /// </returns>
    /// <exception cref="OperationCanceledException">The token was cancelled. Nothing was sent.</exception>
    /// <exception cref="ZlinkException">ContextTerminated. Nothing was sent.</exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed. What was accepted before is sent.</exception>
    /// <exception cref="ArgumentException">A payload is longer than a frame can be. Those before it were sent.</exception>
    public ValueTask<int> SendManyAsync(ReadOnlyMemory<ReadOnlyMemory<byte>> payloads, CancellationToken cancellationToken = default) =>
        Sender.SendManyAsync(default, connection: null, payloads, cancellationToken);
}
