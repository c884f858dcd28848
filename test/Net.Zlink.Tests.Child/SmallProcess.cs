using System.Buffers.Binary;
using System.Diagnostics;
using System.Globalization;
using System.Net;
using System.Net.Sockets;
using System.Text;
using Net.Zlink.Protocol.Zmp;

namespace Net.Zlink.Tests.Child;

/// <summary>
/// A process with a small heap. Ten raw peers send large messages to a ROUTER or STREAM, which reads at once and answers 10 bytes; a peer
/// that is disconnected for want of memory comes again. Says DONE, the messages received, and the bytes of the heap while the socket is
/// still open without a peer: behind the pool's trimming, and before it.
/// </summary>
internal static class SmallProcess
{
    private const int Peers = 10;
    private const long IdleHeap = 10_000_000;
    private const string Any = "tcp://127.0.0.1:*";

    public static async Task<int> RunAsync(int size, int count, bool isStream)
    {
        using var end = new CancellationTokenSource(TimeSpan.FromSeconds(60));
        await using (var context = new ZlinkContext(new ZlinkContextOptions { ShutdownTimeout = TimeSpan.FromSeconds(1) }))
        {
            using ZlinkSocket socket = isStream ? context.CreateStream() : context.CreateRouter();
            string endpoint = socket is RouterSocket bound ? bound.Bind(Any) : ((StreamSocket)socket).Bind(Any);
            int port = int.Parse(endpoint.Split(':')[2], CultureInfo.InvariantCulture);
            byte[] payload = new byte[size];
            Task[] peers = [.. Enumerable.Range(0, Peers).Select(i => SendAgainAsync(isStream ? -1 : i, port, payload, end.Token))];
            await AnswerAsync(socket, count, end.Token);
            await end.CancelAsync();
            await Task.WhenAll(peers);
            while (TryReceive(socket) || socket.PeerCount > 0)
            {
                await Task.Yield();
            }

            payload = [];
            long atOnce = HeapSize();
            long idle;
            long started = Stopwatch.GetTimestamp();
            do
            {
                context.Pool.Trim(); // As it does by itself when its buffers are idle.
                idle = HeapSize();
            }
            while (idle > IdleHeap && Stopwatch.GetElapsedTime(started) < TimeSpan.FromSeconds(10)); // The last connections end.

            Console.WriteLine(string.Create(CultureInfo.InvariantCulture, $"DONE {count} {idle} {atOnce}"));
        }

        return 0;
    }

    private static bool TryReceive(ZlinkSocket socket)
    {
        if (socket is RouterSocket router)
        {
            bool has = router.TryReceive(out Message message);
            message.Dispose();
            return has;
        }

        bool isThere = ((StreamSocket)socket).TryReceive(out StreamMessage frame);
        frame.Dispose();
        return isThere;
    }

    private static async Task AnswerAsync(ZlinkSocket socket, int count, CancellationToken end)
    {
        byte[] answer = new byte[10];
        for (int received = 0; received < count;)
        {
            if (socket is RouterSocket router)
            {
                using Message message = await router.ReceiveAsync(end);
                received++;
                router.To(message.RoutingId).TrySend(answer);
            }
            else
            {
                var stream = (StreamSocket)socket;
                using StreamMessage message = await stream.ReceiveAsync(end);
                received += message.Kind == StreamMessageKind.Data ? 1 : 0;
                stream.To(message.PeerId).TrySend(answer);
            }
        }
    }

    private static long HeapSize()
    {
        GC.Collect();
        GC.WaitForPendingFinalizers();
        GC.Collect(2, GCCollectionMode.Aggressive, blocking: true, compacting: true);
        return GC.GetTotalMemory(forceFullCollection: false);
    }

    private static async Task SendAgainAsync(int number, int port, byte[] payload, CancellationToken end)
    {
        while (!end.IsCancellationRequested)
        {
            try
            {
                await SendAsync(number, port, payload, end);
            }
            catch (Exception e) when (e is SocketException or OperationCanceledException)
            {
                // Disconnected, or the end.
            }
        }
    }

    private static async Task SendAsync(int number, int port, byte[] payload, CancellationToken end)
    {
        using var socket = new Socket(SocketType.Stream, ProtocolType.Tcp);
        await socket.ConnectAsync(IPAddress.Loopback, port, end);
        byte[] id = Encoding.ASCII.GetBytes($"peer {number}");
        byte[] header = new byte[number < 0 ? sizeof(uint) : ZmpFrame.HeaderSize];
        if (number < 0)
        {
            BinaryPrimitives.WriteUInt32BigEndian(header, (uint)payload.Length);
        }
        else
        {
            await SendAllAsync(socket, Frame(ZmpFlags.Control, [1, (byte)ZmpSocketType.Dealer, (byte)id.Length, .. id]), end);
            await SendAllAsync(socket, Frame(ZmpFlags.Control, [4]), end);
            ZmpFrame.WriteHeader(header, default, (uint)payload.Length);
        }

        byte[] answers = new byte[4096];
        while (true)
        {
            await SendAllAsync(socket, header, end);
            await SendAllAsync(socket, payload, end);
            if (await socket.ReceiveAsync(answers, end) == 0)
            {
                return;
            }
        }
    }

    private static byte[] Frame(ZmpFlags flags, byte[] body)
    {
        byte[] frame = new byte[ZmpFrame.HeaderSize + body.Length];
        ZmpFrame.WriteHeader(frame, flags, (uint)body.Length);
        body.CopyTo(frame, ZmpFrame.HeaderSize);
        return frame;
    }

    private static async Task SendAllAsync(Socket socket, ReadOnlyMemory<byte> bytes, CancellationToken end)
    {
        while (!bytes.IsEmpty)
        {
            bytes = bytes[await socket.SendAsync(bytes, end)..];
        }
    }
}
