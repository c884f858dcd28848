using System.Text;

namespace Net.Zlink;

/// <summary>Sends texts as messages of one part in UTF-8. For constant texts, "..."u8 is cheaper.</summary>
public static class MessageSenderExtensions
{
    /// <summary>Sends a text without waiting.</summary>
    /// <param name="sender">The socket.</param>
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

    /// <summary>Sends a text. Blocks the calling thread while no peer has capacity.</summary>
    /// <param name="sender">The socket.</param>
    /// <param name="text">The text.</param>
    /// <param name="timeout">
    /// The longest wait: <see cref="Timeout.InfiniteTimeSpan"/> for no limit, zero for no wait, null for
    /// <see cref="SocketOptions.SendTimeout"/>.
    /// </param>
    /// <exception cref="ArgumentNullException">An argument is null.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The timeout is negative and not infinite.</exception>
    /// <exception cref="TimeoutException">No peer had capacity in time.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    /// <exception cref="InvalidOperationException">It would have to wait on a shard.</exception>
    public static void Send(this IMessageSender sender, string text, TimeSpan? timeout = null)
    {
        ArgumentNullException.ThrowIfNull(sender);
        sender.Send(BytesOf(text), timeout);
    }

    /// <summary>Sends a text, and waits for capacity if needed.</summary>
    /// <param name="sender">The socket.</param>
    /// <param name="text">The text.</param>
    /// <param name="cancellationToken">Cancels the wait. Nothing is sent then.</param>
    /// <returns>A task that completes when the message is accepted.</returns>
    /// <exception cref="ArgumentNullException">An argument is null.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    public static ValueTask SendAsync(this IMessageSender sender, string text, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(sender);
        return sender.SendAsync((ReadOnlyMemory<byte>)BytesOf(text), cancellationToken);
    }

    /// <summary>
    /// Sends a text. Blocks the calling thread while the peer has no capacity, at most <see cref="SocketOptions.SendTimeout"/>.
    /// </summary>
    /// <param name="socket">The socket.</param>
    /// <param name="routingId">The peer's routing id, as in <see cref="Message.RoutingId"/>.</param>
    /// <param name="text">The text.</param>
    /// <exception cref="ArgumentNullException">An argument is null.</exception>
    /// <exception cref="TimeoutException">The peer had no capacity in time.</exception>
    /// <exception cref="ZlinkException">
    /// HostUnreachable: the peer is unknown, with <see cref="RouterOptions.Mandatory"/>. ContextTerminated.
    /// </exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    /// <exception cref="InvalidOperationException">It would have to wait on a shard.</exception>
    public static void Send(this RouterSocket socket, ReadOnlySpan<byte> routingId, string text)
    {
        ArgumentNullException.ThrowIfNull(socket);
        socket.Send(routingId, BytesOf(text));
    }

    /// <summary>Sends a text, and waits for capacity if needed.</summary>
    /// <param name="socket">The socket.</param>
    /// <param name="routingId">The peer's routing id, as in <see cref="Message.RoutingId"/>.</param>
    /// <param name="text">The text.</param>
    /// <param name="cancellationToken">Cancels the wait. Nothing is sent then.</param>
    /// <returns>A task that completes when the message is accepted.</returns>
    /// <exception cref="ArgumentNullException">An argument is null.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    /// <exception cref="ZlinkException">
    /// HostUnreachable: the peer is unknown, with <see cref="RouterOptions.Mandatory"/>. ContextTerminated.
    /// </exception>
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
