using Net.Zlink.Monitoring;

namespace Net.Zlink;

/// <summary>A socket's events as calls.</summary>
public static class SocketEventExtensions
{
    /// <summary>
    /// Calls back for each event of <see cref="ZlinkSocket.MonitorAsync"/> in order, one at a time, on the thread pool. The callback may
    /// block. Its exceptions are logged.
    /// </summary>
    /// <param name="socket">The socket.</param>
    /// <param name="mask">The events.</param>
    /// <param name="handler">The callback.</param>
    /// <returns>Dispose it to end the calls; a running one may continue. They end with the socket, too.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="socket"/> or <paramref name="handler"/> is null.</exception>
    public static IDisposable OnEvent(this ZlinkSocket socket, SocketEventTypes mask, Action<SocketEvent> handler)
    {
        ArgumentNullException.ThrowIfNull(socket);
        ArgumentNullException.ThrowIfNull(handler);
        return new EventCallback(socket.MonitorAsync(mask), handler, socket.Host.Logger);
    }
}
