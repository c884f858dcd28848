namespace Net.Zlink.Porting;

/// <summary>Views of sockets in the native core's shape, for code that is being ported.</summary>
public static class PortingExtensions
{
    /// <summary>The socket in the native core's shape: parts, ids of four bytes, 00 and 01 as events.</summary>
    /// <param name="socket">The socket; the view does not own it.</param>
    /// <returns>A view with a send state of its own.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="socket"/> is null.</exception>
    public static NativeStreamView AsNative(this StreamSocket socket)
    {
        ArgumentNullException.ThrowIfNull(socket);
        return new NativeStreamView(socket);
    }
}
