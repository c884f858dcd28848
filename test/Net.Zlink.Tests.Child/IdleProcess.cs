using System.Diagnostics;
using System.Globalization;
using Samples;

namespace Net.Zlink.Tests.Child;

/// <summary>
/// One side of many idle connections, for a test that measures it. "listen SCHEME" says READY and the endpoint; "connect ENDPOINT COUNT"
/// says CONNECTED and how many there are, now and then. A line of input, the number of peers that
/// there should be, is answered with MEMORY, its resident bytes, the bytes of the managed heap, how many peers it has, and the pool's
/// buffers that are out. Ends with its input.
/// </summary>
internal static class IdleProcess
{
    // A handshake is over at the side that connects first. A busy machine takes seconds for the other side's end of the last ones.
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(30);

    public static async Task<int> RunAsync(string[] args)
    {
        using var arrivals = new SemaphoreSlim(0);
        await using var context = new ZlinkContext();
        await using StreamSocket socket = context.CreateStream();
        socket.Options.Tls.VerifyPeer = false;
        if (string.Equals(args[0], "listen", StringComparison.Ordinal))
        {
            socket.Options.Tls.Certificate = CertificateMaker.Make("CN=idle", ["127.0.0.1"]);
            Console.WriteLine($"READY {socket.Bind($"{args[1]}://127.0.0.1:0", new EchoHandler(arrivals))}");
        }
        else
        {
            await ConnectAsync(socket, new EchoHandler(arrivals), args[1], int.Parse(args[2], CultureInfo.InvariantCulture));
        }

        int arrived = 0;
        while (await Console.In.ReadLineAsync() is { } expected)
        {
            for (; arrived < int.Parse(expected, CultureInfo.InvariantCulture) && await arrivals.WaitAsync(Patience); arrived++)
            {
                // One more is here.
            }

            Report(context, socket);
        }

        return 0;
    }

    private static async Task ConnectAsync(StreamSocket socket, StreamHandler handler, string endpoint, int count)
    {
        // So many handshakes at once keep two processes busy and fill no queue.
        const int AtOnce = 16;
        int made = 0;
        await Parallel.ForAsync(0, count, new ParallelOptions { MaxDegreeOfParallelism = AtOnce }, async (_, cancellation) =>
        {
            await socket.ConnectAsync(endpoint, new StreamConnectOptions { Handler = handler }, cancellation);
            int now = Interlocked.Increment(ref made);
            if (now % 250 == 0 || now == count)
            {
                Console.WriteLine($"CONNECTED {now}");
            }
        });
    }

    private static void Report(ZlinkContext context, StreamSocket socket)
    {
        GC.Collect();
        GC.WaitForPendingFinalizers();
        GC.Collect(2, GCCollectionMode.Aggressive, blocking: true, compacting: true);
        using var process = Process.GetCurrentProcess();
        Console.WriteLine(string.Create(
            CultureInfo.InvariantCulture,
                $"MEMORY {process.WorkingSet64} {GC.GetTotalMemory(forceFullCollection: false)} {socket.PeerCount} "
                + $"{context.Pool.GetStatistics().Live}"));
    }
}
