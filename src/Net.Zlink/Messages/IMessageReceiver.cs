namespace Net.Zlink;

/// <summary>What messages are received from: every ZMP socket but PUB, or a fake of one in a unit test, whose messages
/// <see cref="MessageBuilder.ToMessage"/> makes.</summary>
/// <remarks>The sockets are safe for any number of threads.</remarks>
public interface IMessageReceiver
{
    /// <summary>Takes the next message, if there is one.</summary>
    /// <param name="message">The message; dispose it.</param>
    /// <returns>False if there is none now.</returns>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    bool TryReceive(out Message message);

    /// <summary>Waits for the next message. Any number may wait; they are served in order.</summary>
    /// <param name="cancellationToken">Ends the wait; no message is lost by it.</param>
    /// <returns>The message; dispose it. Complete at once if there is one; allocates nothing either way.</returns>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    ValueTask<Message> ReceiveAsync(CancellationToken cancellationToken = default);

    /// <summary>All messages until the socket is disposed or its context shut down; then the enumeration ends.</summary>
    /// <param name="cancellationToken">Ends the enumeration with an exception; no message is lost by it.</param>
    /// <returns>The messages; dispose each.</returns>
    IAsyncEnumerable<Message> ReceiveAllAsync(CancellationToken cancellationToken = default);
}
