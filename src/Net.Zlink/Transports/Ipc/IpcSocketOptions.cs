using System.Net.Sockets;

namespace Net.Zlink.Transports.Ipc;

/// <summary>Opens Unix domain sockets and applies settings to them.</summary>
internal static class IpcSocketOptions
{
    /// <summary>A new stream socket.</summary>
    /// <exception cref="SocketException">The system refused one.</exception>
    public static Socket Open() => new(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);

    /// <summary>What is to be done to a new connection; null for nothing. An accepted one inherits nothing from its listener
    /// here.</summary>
    public static Action<Socket>? For(SocketSettings settings) =>
        settings is { SendBufferSize: < 0, ReceiveBufferSize: < 0 } ? null : socket => ApplyTo(socket, settings);

    /// <summary>Sets the options of a connection.</summary>
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
