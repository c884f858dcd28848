using System.Net;
using System.Net.Sockets;
using Net.Zlink.Benchmarks.Common;

namespace Net.Zlink.Benchmarks.Compare;

/// <summary>Connects, sends nothing, and looks at what the server uses meanwhile.</summary>
internal static class IdleProbe
{
    // The server's own work after the last accept (timers, trimming, tiered compilation in the background) is over by then.
    private static readonly TimeSpan Settle = TimeSpan.FromSeconds(3);

    // The kernel counts in hundredths of a second: over 10 s that is a tenth of a percent.
    private static readonly TimeSpan Watched = TimeSpan.FromSeconds(10);

    public static async Task<IdleResult> RunAsync(RunningServer server, int connections, CancellationToken cancellation)
    {
        const double KiBPerMiB = 1024;
        double memory = ProcFile.Memory(server.Id);
        var sockets = new List<Socket>(connections);
        try
        {
            for (int i = 0; i < connections; i++)
            {
                var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
                sockets.Add(socket);
                await socket.ConnectAsync(new IPEndPoint(IPAddress.Loopback, server.Port), cancellation);
            }

            await Task.Delay(Settle, cancellation);
            double before = ProcFile.CpuSeconds(server.Id);
            await Task.Delay(Watched, cancellation);
            double used = ProcFile.CpuSeconds(server.Id) - before;
            double added = ProcFile.Memory(server.Id) - memory;
            return new IdleResult(used / Watched.TotalSeconds * 100, added * KiBPerMiB / connections);
        }
        finally
        {
            foreach (Socket socket in sockets)
            {
                socket.Dispose();
            }
        }
    }
}
