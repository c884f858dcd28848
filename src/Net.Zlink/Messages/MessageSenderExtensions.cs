using System.Text;

namespace Net.Zlink;

/// <summary>Texts as messages of one part, in UTF-8, for those who send them now and then. A text that is known beforehand is cheaper as
/// "..."u8, which is bytes already.</summary>
public static class MessageSenderExtensions
{
    /// <summary>Sends a text if it need not wait.</summary>
    /// <param name="sender">Where.</param>
    /// <param name="text">The text.</param>
    /// <returns>False if it would have to wait.</returns>
    /// <exception cref="ArgumentNullException">An argument is null.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    public static bool TrySend(this IMessageSender sender, string text)
    {
        ArgumentNullException.ThrowIfNull(sender);
        return sender.TrySend(BytesOf(text));
    }

    /// <summary>Sends a text, blocking the calling thread for room.</summary>
    /// <param name="sender">Where.</param>
    /// <param name="text">The text.</param>
    /// <param name="timeout">How long it may wait; <see cref="Timeout.InfiniteTimeSpan"/> for as long as it takes, zero not to wait. Null:
    /// <see cref="SocketOptions.SendTimeout"/>.</param>
    /// <exception cref="ArgumentNullException">An argument is null.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The timeout is negative and not infinite.</exception>
    /// <exception cref="TimeoutException">Nobody had room in time.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    /// <exception cref="InvalidOperationException">It would have to wait, and was called on a shard.</exception>
    public static void Send(this IMessageSender sender, string text, TimeSpan? timeout = null)
    {
        ArgumentNullException.ThrowIfNull(sender);
        sender.Send(BytesOf(text), timeout);
    }

    /// <summary>Sends a text, waiting for room if need be.</summary>
    /// <param name="sender">Where.</param>
    /// <param name="text">The text.</param>
    /// <param name="cancellationToken">Ends the wait; nothing is sent then.</param>
    /// <returns>Complete when the message was accepted.</returns>
    /// <exception cref="ArgumentNullException">An argument is null.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    public static ValueTask SendAsync(this IMessageSender sender, string text, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(sender);
        return sender.SendAsync((ReadOnlyMemory<byte>)BytesOf(text), cancellationToken);
    }

    /// <summary>Sends a text, waiting at most <see cref="SocketOptions.SendTimeout"/>, blocking the calling thread.</summary>
    /// <param name="socket">Where.</param>
    /// <param name="routingId">The peer, by the id that its messages come with.</param>
    /// <param name="text">The text.</param>
    /// <exception cref="ArgumentNullException">An argument is null.</exception>
    /// <exception cref="TimeoutException">Nobody had room in time.</exception>
    /// <exception cref="ZlinkException">HostUnreachable: no such peer, with <see cref="RouterOptions.Mandatory"/>.
    /// ContextTerminated.</exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    /// <exception cref="InvalidOperationException">It would have to wait, and was called on a shard.</exception>
    public static void Send(this RouterSocket socket, ReadOnlySpan<byte> routingId, string text)
    {
        ArgumentNullException.ThrowIfNull(socket);
        socket.Send(routingId, BytesOf(text));
    }

    /// <summary>Sends a text, waiting for room if need be.</summary>
    /// <param name="socket">Where.</param>
    /// <param name="routingId">The peer, by the id that its messages come with.</param>
    /// <param name="text">The text.</param>
    /// <param name="cancellationToken">Ends the wait; nothing is sent then.</param>
    /// <returns>Complete when the message was accepted.</returns>
    /// <exception cref="ArgumentNullException">An argument is null.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    /// <exception cref="ZlinkException">HostUnreachable: no such peer, with <see cref="RouterOptions.Mandatory"/>.
    /// ContextTerminated.</exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    public static ValueTask SendAsync(this RouterSocket socket, ReadOnlyMemory<byte> routingId, string text,
        CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(socket);
        return socket.SendAsync(routingId, (ReadOnlyMemory<byte>)BytesOf(text), cancellationToken);
    }

    private static byte[] BytesOf(string text)
    {
        ArgumentNullException.ThrowIfNull(text);
        return Encoding.UTF8.GetBytes(text);
    }
}
