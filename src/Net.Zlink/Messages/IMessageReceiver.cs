namespace Net.Zlink;

/// <summary>
/// Receives messages: every ZMP socket but PUB, or a fake in a unit test, whose messages <see cref="MessageBuilder.ToMessage"/> makes.
/// </summary>
/// <remarks>The sockets are thread-safe.</remarks>
public interface IMessageReceiver
{
    /// <summary>Takes the next message, if there is one now, or in time. Blocks the calling thread only with a timeout.</summary>
    /// <param name="message">The message. Dispose it.</param>
    /// <param name="timeout">The longest wait: zero for none, <see cref="Timeout.InfiniteTimeSpan"/> for no limit.</param>
    /// <returns>False if none came in time.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The timeout is negative and not infinite.</exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    /// <exception cref="InvalidOperationException">It would have to wait on a shard.</exception>
    bool TryReceive(out Message message, TimeSpan timeout = default);

    /// <summary>Waits for the next message. Blocks the calling thread.</summary>
    /// <param name="timeout">
    /// The longest wait: <see cref="Timeout.InfiniteTimeSpan"/> for no limit, zero for no wait, null for
    /// <see cref="SocketOptions.ReceiveTimeout"/>.
    /// </param>
    /// <returns>The message. Dispose it.</returns>
    /// <exception cref="TimeoutException">No message came in time.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The timeout is negative and not infinite.</exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    /// <exception cref="InvalidOperationException">It would have to wait on a shard.</exception>
    Message Receive(TimeSpan? timeout = null);

    /// <summary>Waits for the next message. Several calls may wait; they are served in order.</summary>
    /// <param name="cancellationToken">Cancels the wait. No message is lost.</param>
    /// <returns>The message. Dispose it. Allocates nothing.</returns>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    ValueTask<Message> ReceiveAsync(CancellationToken cancellationToken = default);

    /// <summary>Enumerates all messages until the socket or the context is disposed.</summary>
    /// <param name="cancellationToken">Ends the enumeration with an exception. No message is lost.</param>
    /// <returns>The messages. Dispose each.</returns>
    IAsyncEnumerable<Message> ReceiveAllAsync(CancellationToken cancellationToken = default);
}
