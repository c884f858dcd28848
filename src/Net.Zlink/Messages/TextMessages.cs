using System.Text;

namespace Net.Zlink;

/// <summary>Texts as messages of one part, in UTF-8, for those who send them now and then. A text that is known beforehand is cheaper as "..."u8, which is bytes already.</summary>
public static class TextMessages
{
    /// <summary>Sends a text, waiting at most <see cref="SocketOptions.SendTimeout"/>, blocking the calling thread.</summary>
    /// <param name="socket">Where.</param>
    /// <param name="text">The text.</param>
    /// <exception cref="ArgumentNullException">An argument is null.</exception>
    /// <exception cref="ZlinkException">Again: nobody had room in time. ContextTerminated.</exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    /// <exception cref="InvalidOperationException">It would have to wait, and was called on a shard.</exception>
    public static void Send(this DuplexSocket socket, string text)
    {
        ArgumentNullException.ThrowIfNull(socket);
        socket.Send(BytesOf(text));
    }

    /// <summary>Sends a text, waiting for room if need be.</summary>
    /// <param name="socket">Where.</param>
    /// <param name="text">The text.</param>
    /// <param name="cancellationToken">Ends the wait; nothing is sent then.</param>
    /// <returns>Complete when the message was accepted.</returns>
    /// <exception cref="ArgumentNullException">An argument is null.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    public static ValueTask SendAsync(this DuplexSocket socket, string text, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(socket);
        return socket.SendAsync((ReadOnlyMemory<byte>)BytesOf(text), cancellationToken);
    }

    /// <summary>Sends a text, waiting at most <see cref="SocketOptions.SendTimeout"/>, blocking the calling thread.</summary>
    /// <param name="socket">Where.</param>
    /// <param name="text">The text.</param>
    /// <exception cref="ArgumentNullException">An argument is null.</exception>
    /// <exception cref="ZlinkException">Again: nobody had room in time. ContextTerminated.</exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    /// <exception cref="InvalidOperationException">It would have to wait, and was called on a shard.</exception>
    public static void Send(this PubSocket socket, string text)
    {
        ArgumentNullException.ThrowIfNull(socket);
        socket.Send(BytesOf(text));
    }

    /// <summary>Sends a text, waiting for room if need be.</summary>
    /// <param name="socket">Where.</param>
    /// <param name="text">The text.</param>
    /// <param name="cancellationToken">Ends the wait; nothing is sent then.</param>
    /// <returns>Complete when the message was accepted.</returns>
    /// <exception cref="ArgumentNullException">An argument is null.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    public static ValueTask SendAsync(this PubSocket socket, string text, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(socket);
        return socket.SendAsync((ReadOnlyMemory<byte>)BytesOf(text), cancellationToken);
    }

    /// <summary>Sends a text, waiting at most <see cref="SocketOptions.SendTimeout"/>, blocking the calling thread.</summary>
    /// <param name="socket">Where.</param>
    /// <param name="routingId">The peer, by the id that its messages come with.</param>
    /// <param name="text">The text.</param>
    /// <exception cref="ArgumentNullException">An argument is null.</exception>
    /// <exception cref="ZlinkException">Again: nobody had room in time. HostUnreachable: no such peer, with <see cref="RouterOptions.Mandatory"/>. ContextTerminated.</exception>
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
    /// <exception cref="ZlinkException">HostUnreachable: no such peer, with <see cref="RouterOptions.Mandatory"/>. ContextTerminated.</exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    public static ValueTask SendAsync(this RouterSocket socket, ReadOnlyMemory<byte> routingId, string text, CancellationToken cancellationToken = default)
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
