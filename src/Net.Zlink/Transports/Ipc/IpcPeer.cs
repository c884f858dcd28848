using System.Globalization;
using System.Net.Sockets;
using System.Runtime.InteropServices;

namespace Net.Zlink.Transports.Ipc;

/// <summary>Tells who is at the other end of an ipc connection.</summary>
internal static class IpcPeer
{
    // SOL_SOCKET and SO_PEERCRED of Linux (all its architectures that .NET runs on), for which the runtime has no names.
    private const int SocketLevel = 1;
    private const int PeerCredentials = 17;

    /// <summary>
    /// "localhost:uid:gid:pid" of the process that connected or listened, as the kernel noted it then: what the native core gives as the
    /// Peer-Address of a message. Empty where the system does not tell (elsewhere than on Linux), and for a socket that is no ipc
    /// connection.
    /// </summary>
    public static string Describe(Socket socket)
    {
        if (!OperatingSystem.IsLinux() || socket.AddressFamily != AddressFamily.Unix)
        {
            return "";
        }

        try
        {
            Span<int> credentials = stackalloc int[3]; // struct ucred: pid, uid, gid
            var length = socket.GetRawSocketOption(SocketLevel, PeerCredentials, MemoryMarshal.AsBytes(credentials));
            return length != sizeof(int) * credentials.Length
                ? ""
                : string.Create(CultureInfo.InvariantCulture, $"localhost:{(uint)credentials[1]}:{(uint)credentials[2]}:{credentials[0]}");
        }
        catch (Exception e) when (e is SocketException or ObjectDisposedException)
        {
            return ""; // gone before we could look
        }
    }
}
