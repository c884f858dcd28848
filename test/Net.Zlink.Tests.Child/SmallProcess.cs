using System.Globalization;
using System.Net;
using System.Net.Sockets;
using System.Text;
using Net.Zlink.Protocol.Zmp;

namespace Net.Zlink.Tests.Child;

/// <summary>A process with a small heap. Ten raw peers send large messages to a ROUTER, which reads at once and answers 10 bytes; a peer
/// that is disconnected for want of memory comes again. Says DONE, the messages received, and the bytes of the heap afterwards.</summary>
internal static class SmallProcess
{
    private const int Peers = 10;

    public static async Task<int> RunAsync(int size, int count)
    {
        int received = 0;
        using var end = new CancellationTokenSource(TimeSpan.FromSeconds(60));
        await using (var context = new ZlinkContext(new ZlinkContextOptions { ShutdownTimeout = TimeSpan.FromSeconds(1) }))
        {
            using RouterSocket router = context.CreateRouter();
            int port = int.Parse(router.Bind("tcp://127.0.0.1:*").Split(':')[2], CultureInfo.InvariantCulture);
            byte[] payload = new byte[size];
            Task[] peers = [.. Enumerable.Range(0, Peers).Select(i => SendAgainAsync(i, port, payload, end.Token))];
            byte[] answer = new byte[10];
            for (; received < count; received++)
            {
                using Message message = await router.ReceiveAsync(end.Token);
                router.TrySend(message.RoutingId.Span, answer, out _);
            }

            await end.CancelAsync();
            await Task.WhenAll(peers);
        }

        GC.Collect();
        GC.WaitForPendingFinalizers();
        GC.Collect(2, GCCollectionMode.Aggressive, blocking: true, compacting: true);
        Console.WriteLine(string.Create(
            CultureInfo.InvariantCulture, $"DONE {received} {GC.GetTotalMemory(forceFullCollection: false)}"));
        return 0;
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
        await SendAllAsync(socket, Frame(ZmpFlags.Control, [1, (byte)ZmpSocketType.Dealer, (byte)id.Length, .. id]), end);
        await SendAllAsync(socket, Frame(ZmpFlags.Control, [4]), end);
        byte[] header = new byte[ZmpFrame.HeaderSize];
        ZmpFrame.WriteHeader(header, default, (uint)payload.Length);
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
