namespace Net.Zlink;

/// <summary>Sends messages: a socket, one peer of a socket (<see cref="PeerSender"/>, <see cref="StreamPeer"/>), or a fake in a unit
/// test.</summary>
/// <remarks>
/// The sockets are thread-safe. ROUTER and STREAM send through <see cref="RouterSocket.To(RoutingId)"/> and
/// <see cref="StreamSocket.To(uint)"/>, because each of their sends names a peer. Further forms, for text, values and transferred memory,
/// are extension methods.
/// </remarks>
public interface IMessageSender
{
    /// <summary>Sends a message of one part without waiting.</summary>
    /// <param name="payload">The payload, which is copied. It may be empty; a null array counts as empty.</param>
    /// <returns>True if it was sent, else the reason: <see cref="SendFailure"/>.</returns>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    /// <exception cref="ArgumentException">The payload is longer than a frame can be.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    SendResult TrySend(ReadOnlySpan<byte> payload);

    /// <summary>Sends a message of several parts, whole or not at all, without waiting.</summary>
    /// <param name="message">A message of at least one part. Empty after it was accepted.</param>
    /// <returns>True if it was sent, else the reason: <see cref="SendFailure"/>.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="message"/> is null.</exception>
    /// <exception cref="ObjectDisposedException">The socket or the message is disposed.</exception>
    /// <exception cref="ArgumentException">The message has no part, or several with Conflate.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    SendResult TrySend(MessageBuilder message);

    /// <summary>Forwards a received message without waiting, without a copy of long parts.</summary>
    /// <param name="message">A received message. Accepting it ends it, as Dispose does.</param>
    /// <returns>True if it was sent, else the reason: <see cref="SendFailure"/>.</returns>
    /// <exception cref="ObjectDisposedException">The socket or the message is disposed.</exception>
    /// <exception cref="InvalidOperationException">The message is empty.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    SendResult TrySend(in Message message);

    /// <summary>Sends a message of one part. Blocks the calling thread while no peer has capacity.</summary>
    /// <param name="payload">The payload, which is copied. It may be empty; a null array counts as empty.</param>
    /// <param name="timeout">
    /// The longest wait: <see cref="Timeout.InfiniteTimeSpan"/> for no limit, zero for no wait, null for
    /// <see cref="SocketOptions.SendTimeout"/>.
    /// </param>
    /// <exception cref="TimeoutException">No peer had capacity in time.</exception>
    /// <exception cref="ZlinkException">ContextTerminated, or NoMemory.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The timeout is negative and not infinite.</exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    /// <exception cref="ArgumentException">The payload is longer than a frame can be.</exception>
    /// <exception cref="InvalidOperationException">It would have to wait on a shard.</exception>
    void Send(ReadOnlySpan<byte> payload, TimeSpan? timeout = null);

    /// <summary>Sends a message of one part, and waits for capacity if needed.</summary>
    /// <param name="payload">The payload, which must not change until the task completes. It may be empty.</param>
    /// <param name="cancellationToken">Cancels the wait. Nothing is sent then.</param>
    /// <returns>A task that completes when the message is accepted. Allocates nothing.</returns>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    /// <exception cref="ZlinkException">ContextTerminated, or NoMemory.</exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    /// <exception cref="ArgumentException">The payload is longer than a frame can be.</exception>
    ValueTask SendAsync(ReadOnlyMemory<byte> payload, CancellationToken cancellationToken = default);

    /// <summary>Sends a message of several parts, whole or not at all, and waits for capacity if needed.</summary>
    /// <param name="message">A message of at least one part. Empty after it was accepted.</param>
    /// <param name="cancellationToken">Cancels the wait. Nothing is sent then.</param>
    /// <returns>A task that completes when the message is accepted. Allocates nothing.</returns>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    /// <exception cref="ZlinkException">ContextTerminated, or NoMemory.</exception>
    /// <exception cref="ArgumentNullException"><paramref name="message"/> is null.</exception>
    /// <exception cref="ObjectDisposedException">The socket or the message is disposed.</exception>
    /// <exception cref="ArgumentException">The message has no part, or several with Conflate.</exception>
    /// <exception cref="InvalidOperationException">The builder was changed during the wait. Nothing of it was sent.</exception>
    ValueTask SendAsync(MessageBuilder message, CancellationToken cancellationToken = default);

    /// <summary>Forwards a received message without a copy of long parts, and waits for capacity if needed.</summary>
    /// <param name="message">A received message. Accepting it ends it, as Dispose does.</param>
    /// <param name="cancellationToken">Cancels the wait. Nothing is sent then.</param>
    /// <returns>A task that completes when the message is accepted. Allocates nothing.</returns>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    /// <exception cref="ZlinkException">ContextTerminated, or NoMemory.</exception>
    /// <exception cref="ObjectDisposedException">The socket or the message is disposed.</exception>
    /// <exception cref="InvalidOperationException">The message is empty.</exception>
    /// <exception cref="ArgumentException">It has several parts, with Conflate. It still belongs to the caller.</exception>
    ValueTask SendAsync(in Message message, CancellationToken cancellationToken = default);
}
