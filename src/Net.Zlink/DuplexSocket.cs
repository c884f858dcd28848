using Net.Zlink.Sockets;

namespace Net.Zlink;

/// <summary>A socket that receives messages, and sends them to peers of its own choice.</summary>
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

    /// <summary>
    /// Sends memory without a copy if it is long. The socket disposes it after the send. If the send fails, it still belongs to the caller.
    /// </summary>
    /// <param name="payload">The owner of the memory.</param>
    /// <param name="length">The length of the message in bytes.</param>
    /// <param name="cancellationToken">Cancels the wait. Nothing is sent then.</param>
    /// <returns>A task that completes when the message is accepted.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="payload"/> is null.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The memory has fewer bytes.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    /// <exception cref="ZlinkException">ContextTerminated, or NoMemory.</exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    public ValueTask SendAsync(System.Buffers.IMemoryOwner<byte> payload, int length, CancellationToken cancellationToken = default) =>
        Sender.SendAsync([], payload, length, cancellationToken);

    /// <inheritdoc/>
    public bool TrySend(MessageBuilder message) => Sender.TrySend([], message) == ZlinkError.None;

    /// <summary>Sends a message of several parts, whole or not at all. Blocks the calling thread while no peer has capacity.</summary>
    /// <param name="message">A message of at least one part. Empty after it was accepted.</param>
    /// <param name="timeout">
    /// The longest wait: <see cref="Timeout.InfiniteTimeSpan"/> for no limit, zero for no wait, null for
    /// <see cref="SocketOptions.SendTimeout"/>.
    /// </param>
    /// <exception cref="TimeoutException">No peer had capacity in time.</exception>
    /// <exception cref="ZlinkException">ContextTerminated, or NoMemory.</exception>
    /// <exception cref="ArgumentNullException"><paramref name="message"/> is null.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The timeout is negative and not infinite.</exception>
    /// <exception cref="ObjectDisposedException">The socket or the message is disposed.</exception>
    /// <exception cref="ArgumentException">The message has no part, or several with Conflate.</exception>
    /// <exception cref="InvalidOperationException">It would have to wait on a shard.</exception>
    public void Send(MessageBuilder message, TimeSpan? timeout = null) => Sender.Send([], message, OptionRange.WaitTime(timeout));

    /// <inheritdoc/>
    public ValueTask SendAsync(MessageBuilder message, CancellationToken cancellationToken = default) =>
        Sender.SendAsync([], message, cancellationToken);

    /// <inheritdoc/>
    public bool TrySend(in Message message) => Sender.TrySend([], in message) == ZlinkError.None;

    /// <summary>Forwards a received message without a copy of long parts. Blocks the calling thread while no peer has capacity.</summary>
    /// <param name="message">A received message. Accepting it ends it, as Dispose does.</param>
    /// <param name="timeout">
    /// The longest wait: <see cref="Timeout.InfiniteTimeSpan"/> for no limit, zero for no wait, null for
    /// <see cref="SocketOptions.SendTimeout"/>.
    /// </param>
    /// <exception cref="TimeoutException">No peer had capacity in time.</exception>
    /// <exception cref="ZlinkException">ContextTerminated, or NoMemory.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The timeout is negative and not infinite.</exception>
    /// <exception cref="ObjectDisposedException">The socket or the message is disposed.</exception>
    /// <exception cref="InvalidOperationException">The message is empty, or it would have to wait on a shard.</exception>
    /// <exception cref="ArgumentException">It has several parts, with Conflate. It still belongs to the caller.</exception>
    public void Send(in Message message, TimeSpan? timeout = null) => Sender.Send([], in message, OptionRange.WaitTime(timeout));

    /// <inheritdoc/>
    public ValueTask SendAsync(in Message message, CancellationToken cancellationToken = default) =>
        Sender.SendAsync([], in message, cancellationToken);

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
    public int SendMany(ReadOnlySpan<Message> messages) => Sender.SendMany([], messages, out _);

    /// <summary>Sends messages of one part each in order, without waiting.</summary>
    /// <param name="payloads">The payloads, which are copied.</param>
    /// <returns>How many were accepted, from the first on. Fewer than all if one would have to wait.</returns>
    /// <exception cref="ObjectDisposedException">The socket is disposed. What was accepted before is sent.</exception>
    /// <exception cref="ArgumentException">A payload is longer than a frame can be. Those before it were sent.</exception>
    /// <exception cref="ZlinkException">ContextTerminated. Nothing was sent.</exception>
    public int SendMany(ReadOnlySpan<ReadOnlyMemory<byte>> payloads) => Sender.SendMany([], payloads, out _);

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
        Sender.SendManyAsync(default, messages, cancellationToken);

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
        Sender.SendManyAsync(default, payloads, cancellationToken);
}
