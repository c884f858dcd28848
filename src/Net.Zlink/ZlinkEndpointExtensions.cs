namespace Net.Zlink;

/// <summary>A socket with its endpoint in one expression: <c>context.CreateRouter().BoundTo("tcp://*:5555")</c>.</summary>
public static class ZlinkEndpointExtensions
{
    /// <summary>Listens for peers at an endpoint. A socket that cannot listen there is disposed.</summary>
    /// <param name="socket">The socket.</param>
    /// <param name="endpoint">As for <see cref="ZlinkSocket.Bind"/>; <see cref="ZlinkSocket.LastEndpoint"/> has the real port then.</param>
    /// <typeparam name="TSocket">The type of the socket.</typeparam>
    /// <returns>The same socket.</returns>
    /// <exception cref="ArgumentNullException">An argument is null.</exception>
    /// <exception cref="ZlinkException">As for <see cref="ZlinkSocket.Bind"/>.</exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    public static TSocket BoundTo<TSocket>(this TSocket socket, string endpoint)
        where TSocket : ZlinkSocket => AttachOrDispose(socket, endpoint, static (socket, endpoint) => socket.Bind(endpoint));

    /// <summary>Connects to an endpoint in the background, and again whenever the connection is lost. A socket that cannot do that is
    /// disposed.</summary>
    /// <param name="socket">The socket.</param>
    /// <param name="endpoint">As for <see cref="ZmpSocket.Connect"/>.</param>
    /// <typeparam name="TSocket">The type of the socket.</typeparam>
    /// <returns>The same socket, not connected yet.</returns>
    /// <exception cref="ArgumentNullException">An argument is null.</exception>
    /// <exception cref="ZlinkException">As for <see cref="ZmpSocket.Connect"/>.</exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    public static TSocket ConnectedTo<TSocket>(this TSocket socket, string endpoint)
        where TSocket : ZmpSocket => AttachOrDispose(socket, endpoint, static (socket, endpoint) => socket.Connect(endpoint));

    private static TSocket AttachOrDispose<TSocket>(TSocket socket, string endpoint, Action<TSocket, string> attach)
        where TSocket : ZlinkSocket
    {
        ArgumentNullException.ThrowIfNull(socket);
        try
        {
            attach(socket, endpoint);
            return socket;
        }
        catch
        {
            socket.Dispose();
            throw;
        }
    }
}
