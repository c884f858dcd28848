using System.Globalization;
using System.Net.Sockets;
using System.Runtime.InteropServices;

namespace Net.Zlink.Transports;

internal static class IpcPeer
{
    private const int SocketLevel = 1;
    private const int PeerCredentials = 17;

    /// <summary>"localhost:uid:gid:pid" of the process that connected or listened: the native core's Peer-Address.</summary>
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
