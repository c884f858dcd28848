using System.Net;
using System.Net.Sockets;
using Net.Zlink.Benchmarks.Common;

namespace Net.Zlink.Benchmarks.Compare;

/// <summary>Connects, sends nothing, and looks at what the server uses meanwhile; at the end each connection must echo one frame.</summary>
internal static class IdleProbe
{
    // For all of them: one after the other they take seconds. A full queue of connections that nobody accepts would hold up each for
    // minutes.
    private static readonly TimeSpan ConnectLimit = TimeSpan.FromSeconds(60);

    // The server's own work after the last accept (timers, trimming, tiered compilation in the background) is over by then.
    private static readonly TimeSpan Settle = TimeSpan.FromSeconds(3);

    // The kernel counts in hundredths of a second: over 10 s that is a tenth of a percent.
    private static readonly TimeSpan Watched = TimeSpan.FromSeconds(10);

    // For the echoes, all together.
    private static readonly TimeSpan EchoLimit = TimeSpan.FromSeconds(10);

    // Eight bytes: of one byte the native core's STREAM says that somebody came or went.
    private static readonly byte[] Frame = [0, 0, 0, 8, .. "are here"u8];

    /// <summary>Why there is no figure, if there is none.</summary>
    public static async Task<(IdleResult? Result, string? Fault)> RunAsync(
        RunningServer server, int connections, CancellationToken cancellation)
    {
        const double KiBPerMiB = 1024;
        double memory = ProcFile.Memory(server.Id);
        var sockets = new List<Socket>(connections);
        try
        {
            if (!await ConnectAsync(sockets, server.Port, connections, cancellation))
            {
                return (null, $"{sockets.Count - 1} of {connections} connections were made within {ConnectLimit.TotalSeconds:0} s");
            }

            await Task.Delay(Settle, cancellation);
            double before = ProcFile.CpuSeconds(server.Id);
            await Task.Delay(Watched, cancellation);
            double used = ProcFile.CpuSeconds(server.Id) - before;
            double added = ProcFile.Memory(server.Id) - memory;
            return await EchoesAsync(sockets, cancellation)
                ? (new IdleResult(used / Watched.TotalSeconds * 100, added * KiBPerMiB / connections), null)
                : (null, $"not every connection echoed the one frame that each is sent at the end, within {EchoLimit.TotalSeconds:0} s: "
                    + $"the server does not echo, or it never accepted them, and only the kernel did");
        }
        finally
        {
            foreach (Socket socket in sockets)
            {
                socket.Dispose();
            }
        }
    }

    private static async Task<bool> ConnectAsync(List<Socket> sockets, int port, int connections, CancellationToken cancellation)
    {
        using var limit = CancellationTokenSource.CreateLinkedTokenSource(cancellation);
        limit.CancelAfter(ConnectLimit);
        try
        {
            for (int i = 0; i < connections; i++)
            {
                var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
                sockets.Add(socket);
                await socket.ConnectAsync(new IPEndPoint(IPAddress.Loopback, port), limit.Token);
            }

            return true;
        }
        catch (OperationCanceledException) when (!cancellation.IsCancellationRequested)
        {
            return false;
        }
    }

    /// <summary>The kernel makes a connection without the server, as long as its queue has room: an echo shows that it is served.</summary>
    private static async Task<bool> EchoesAsync(List<Socket> sockets, CancellationToken cancellation)
    {
        foreach (Socket socket in sockets)
        {
            await socket.SendAsync(Frame, cancellation);
        }

        using var limit = CancellationTokenSource.CreateLinkedTokenSource(cancellation);
        limit.CancelAfter(EchoLimit);
        byte[] echo = new byte[Frame.Length];
        try
        {
            foreach (Socket socket in sockets)
            {
                await using var stream = new NetworkStream(socket, ownsSocket: false);
                await stream.ReadExactlyAsync(echo, limit.Token);
                if (!echo.AsSpan().SequenceEqual(Frame))
                {
                    return false;
                }
            }
        }
        catch (OperationCanceledException) when (!cancellation.IsCancellationRequested)
        {
            return false;
        }

        return true;
    }
}
