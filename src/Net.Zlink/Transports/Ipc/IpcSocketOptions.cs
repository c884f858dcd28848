using System.Net.Sockets;

namespace Net.Zlink.Transports.Ipc;

internal static class IpcSocketOptions
{
    /// <summary>A new stream socket.</summary>
    /// <exception cref="SocketException">The system refused one.</exception>
    public static Socket Open() => new(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);

    /// <summary>Prepares a new connection, or null. Unix domain connections inherit nothing from their listener.</summary>
    public static Action<Socket>? For(SocketSettings settings) =>
        settings is { SendBufferSize: < 0, ReceiveBufferSize: < 0 } ? null : socket => ApplyTo(socket, settings);

    /// <exception cref="SocketException">The system refused a value.</exception>
    public static void ApplyTo(Socket socket, SocketSettings settings)
    {
        if (settings.SendBufferSize >= 0)
        {
            socket.SendBufferSize = settings.SendBufferSize;
        }

        if (settings.ReceiveBufferSize >= 0)
        {
            socket.ReceiveBufferSize = settings.ReceiveBufferSize;
        }
    }
}
