using System.Globalization;
using System.Net.Sockets;
using System.Runtime.InteropServices;

namespace Net.Zlink.Transports.Ipc;

/// <summary>Identifies the process at the other end of an ipc connection.</summary>
internal static class IpcPeer
{
    // SOL_SOCKET and SO_PEERCRED of Linux on all architectures of .NET, without names in the runtime.
    private const int SocketLevel = 1;
    private const int PeerCredentials = 17;

    /// <summary>
    /// "localhost:uid:gid:pid" of the process that connected or listened: the native core's Peer-Address. Empty on other systems than
    /// Linux, and for other sockets.
    /// </summary>
    public static string Describe(Socket socket)
    {
        if (!OperatingSystem.IsLinux() || socket.AddressFamily != AddressFamily.Unix)
        {
            return "";
        }

        try
        {
            Span<int> credentials = stackalloc int[3]; // struct ucred: pid, uid, gid.
            var length = socket.GetRawSocketOption(SocketLevel, PeerCredentials, MemoryMarshal.AsBytes(credentials));
            return length != sizeof(int) * credentials.Length
                ? ""
                : string.Create(CultureInfo.InvariantCulture, $"localhost:{(uint)credentials[1]}:{(uint)credentials[2]}:{credentials[0]}");
        }
        catch (Exception e) when (e is SocketException or ObjectDisposedException)
        {
            return ""; // Disconnected already.
        }
    }
}
