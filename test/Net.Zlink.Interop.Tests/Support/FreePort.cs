using System.Net;
using System.Net.Sockets;

namespace Net.Zlink.Interop.Tests.Support;

/// <summary>Ports for native services, which do not say which port the system chose, and for what is started again at its old
/// place.</summary>
internal static class FreePort
{
    // Below the ports that systems give to outgoing connections, and different in each of several test processes.
    private static int s_last = 20_000 + (Environment.ProcessId % 100 * 100);

    /// <summary>A port that is free now, and is given to nobody else in this process.</summary>
    public static int Next()
    {
        while (true)
        {
            int port = Interlocked.Increment(ref s_last);
            using var listener = new TcpListener(IPAddress.Loopback, port);
            try
            {
                listener.Start();
                return port;
            }
            catch (SocketException)
            {
                // Somebody else's.
            }
        }
    }
}
