namespace Net.Zlink;

/// <summary>
/// Receives messages: every ZMP socket but PUB, or a fake in a unit test, whose messages <see cref="MessageBuilder.ToMessage"/> makes.
/// </summary>
/// <remarks>The sockets are thread-safe.</remarks>
public interface IMessageReceiver
{
    /// <summary>Takes the next message, if there is one.</summary>
    /// <param name="message">The message. Dispose it.</param>
    /// <returns>False if there is none now.</returns>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    bool TryReceive(out Message message);

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
