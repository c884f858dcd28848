namespace Net.Zlink;

/// <summary>What sends messages: PUB, PAIR, DEALER, XPUB and XSUB sockets, or a fake of one in a unit test.</summary>
/// <remarks>The sockets are safe for any number of threads. A ROUTER is no such sender: its messages go to a peer that each send
/// names.</remarks>
public interface IMessageSender
{
    /// <summary>Sends a message of one part if it need not wait.</summary>
    /// <param name="payload">Any bytes, also none, which a null array is taken for; copied.</param>
    /// <returns>False if it would have to wait.</returns>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    /// <exception cref="ArgumentException">The payload is longer than a frame can be.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    bool TrySend(ReadOnlySpan<byte> payload);

    /// <summary>Sends a message of several parts, whole or not at all if it need not wait.</summary>
    /// <param name="message">The message, of at least one part; empty when it was accepted.</param>
    /// <returns>False if it would have to wait.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="message"/> is null.</exception>
    /// <exception cref="ObjectDisposedException">The socket or the message is disposed.</exception>
    /// <exception cref="ArgumentException">The message has no part, or several with Conflate.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    bool TrySend(MessageBuilder message);

    /// <summary>Passes a received message on, without a copy of long parts if it need not wait.</summary>
    /// <param name="message">A received message; accepted, it is ended.</param>
    /// <returns>False if it would have to wait.</returns>
    /// <exception cref="ObjectDisposedException">The socket or the message is disposed.</exception>
    /// <exception cref="InvalidOperationException">There is no message in it.</exception>
    /// <exception cref="ArgumentException">It has several parts, with Conflate: it stays the caller's.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    bool TrySend(in Message message);

    /// <summary>Sends a message of one part, blocking the calling thread for room.</summary>
    /// <param name="payload">Any bytes, also none, which a null array is taken for; copied.</param>
    /// <param name="timeout">How long it may wait; <see cref="Timeout.InfiniteTimeSpan"/> for as long as it takes, zero not to wait. Null:
    /// <see cref="SocketOptions.SendTimeout"/>.</param>
    /// <exception cref="ZlinkException">Again: nobody had room in time. ContextTerminated.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The timeout is negative and not infinite.</exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    /// <exception cref="ArgumentException">The payload is longer than a frame can be.</exception>
    /// <exception cref="InvalidOperationException">It would have to wait, and was called on a shard.</exception>
    void Send(ReadOnlySpan<byte> payload, TimeSpan? timeout = null);

    /// <summary>Sends a message of one part, waiting for room if need be.</summary>
    /// <param name="payload">Any bytes, also none, which a null array is taken for; unchanged until the task completes.</param>
    /// <param name="cancellationToken">Ends the wait; nothing is sent then.</param>
    /// <returns>Complete when the message was accepted; allocates nothing, waiting or not.</returns>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    /// <exception cref="ArgumentException">The payload is longer than a frame can be.</exception>
    ValueTask SendAsync(ReadOnlyMemory<byte> payload, CancellationToken cancellationToken = default);

    /// <summary>Sends a message of several parts, whole or not at all, waiting for room if need be.</summary>
    /// <param name="message">The message, of at least one part; empty when it was accepted.</param>
    /// <param name="cancellationToken">Ends the wait; nothing is sent then.</param>
    /// <returns>Complete when the message was accepted; allocates nothing, waiting or not.</returns>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    /// <exception cref="ArgumentNullException"><paramref name="message"/> is null.</exception>
    /// <exception cref="ObjectDisposedException">The socket or the message is disposed.</exception>
    /// <exception cref="ArgumentException">The message has no part, or several with Conflate.</exception>
    /// <exception cref="InvalidOperationException">The builder was touched while this waited; nothing of it was sent.</exception>
    ValueTask SendAsync(MessageBuilder message, CancellationToken cancellationToken = default);

    /// <summary>Passes a received message on, without a copy of long parts, waiting for room if need be.</summary>
    /// <param name="message">A received message; accepted, it is ended.</param>
    /// <param name="cancellationToken">Ends the wait; nothing is sent then.</param>
    /// <returns>Complete when the message was accepted; allocates nothing, waiting or not.</returns>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    /// <exception cref="ObjectDisposedException">The socket or the message is disposed.</exception>
    /// <exception cref="InvalidOperationException">There is no message in it.</exception>
    /// <exception cref="ArgumentException">It has several parts, with Conflate: it stays the caller's.</exception>
    ValueTask SendAsync(in Message message, CancellationToken cancellationToken = default);
}
