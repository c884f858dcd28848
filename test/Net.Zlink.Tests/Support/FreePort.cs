using System.Net;
using System.Net.Sockets;

namespace Net.Zlink.Tests.Support;

/// <summary>Ports for listeners that must not get a port which the system gave to another test before: a client of that test may still try
/// to connect to it. Also for native services, which do not say which port the system chose.</summary>
internal static class FreePort
{
    // Below the ports that systems give to outgoing connections (from 32,768 on).
    private const int First = 10_000;
    private const int Count = 22_000;

    // Different in each of several test processes.
    private static uint s_last = (uint)Environment.ProcessId * 1_009;

    /// <summary>A port that is free now, and is given to nobody else in this process for the next 22,000 calls.</summary>
    public static int Next()
    {
        while (true)
        {
            int port = First + (int)(Interlocked.Increment(ref s_last) % Count);
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
