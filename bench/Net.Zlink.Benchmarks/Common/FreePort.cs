using System.Net;
using System.Net.Sockets;

namespace Net.Zlink.Benchmarks.Common;

/// <summary>Ports for servers that cannot choose their own.</summary>
internal static class FreePort
{
    // Above what services commonly use. The end is below the ports that the system gives to outgoing connections: thousands of them are
    // made here.
    private const int First = 20_000;
    private const int Last = 32_000;
    private const int Attempts = 100;

    public static int Find()
    {
        int end = Math.Min(Last, ProcFile.FirstEphemeralPort());
        int first = Math.Min(First, end - 1000);
        for (int i = 0; i < Attempts; i++)
        {
            int port = Random.Shared.Next(first, end);
            using var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
            try
            {
                socket.Bind(new IPEndPoint(IPAddress.Any, port));
                return port;
            }
            catch (SocketException)
            {
                // Taken; try another.
            }
        }

        throw new RequestException($"No free port between {first} and {end}; close something that listens there.");
    }
}
