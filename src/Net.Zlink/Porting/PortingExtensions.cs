namespace Net.Zlink.Porting;

/// <summary>Views of sockets in the native shape, for ported code.</summary>
public static class PortingExtensions
{
    /// <summary>Makes a view of the socket in the native shape: parts, ids of four bytes, 00 and 01 as events.</summary>
    /// <param name="socket">The socket. The view does not own it.</param>
    /// <returns>A view with its own send state.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="socket"/> is null.</exception>
    public static NativeStreamView AsNative(this StreamSocket socket)
    {
        ArgumentNullException.ThrowIfNull(socket);
        return new NativeStreamView(socket);
    }
}
