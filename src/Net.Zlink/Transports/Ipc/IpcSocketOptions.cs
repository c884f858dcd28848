using System.Net.Sockets;

namespace Net.Zlink.Transports.Ipc;

internal static class IpcSocketOptions
{
    public static Socket Open() => new(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);

    /// <summary>Unix domain connections inherit nothing from their listener.</summary>
    public static Action<Socket>? For(SocketSettings settings) =>
        settings is { SendBufferSize: < 0, ReceiveBufferSize: < 0 } ? null : socket => ApplyTo(socket, settings);

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
