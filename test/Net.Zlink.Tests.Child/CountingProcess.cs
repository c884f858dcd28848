using System.Globalization;

namespace Net.Zlink.Tests.Child;

/// <summary>Ends of connections that a test stops with a signal. They say what they count for each line of input, and end with
/// it.</summary>
internal static class CountingProcess
{
    /// <summary>A ROUTER and a PAIR at each endpoint. Says READY and where they are bound, then RECEIVED and how many each has.</summary>
    public static async Task<int> ServeAsync(int interval, int timeout, string[] endpoints)
    {
        await using var context = new ZlinkContext(new ZlinkContextOptions { ShutdownTimeout = TimeSpan.FromSeconds(1) });
        ReceivingSocket[] sockets = [.. endpoints.SelectMany(_ => new ReceivingSocket[] { context.CreateRouter(), context.CreatePair() })];
        string[] bound = new string[sockets.Length];
        long[] received = new long[sockets.Length];
        for (int i = 0; i < sockets.Length; i++)
        {
            sockets[i].Options.HeartbeatInterval = TimeSpan.FromMilliseconds(interval);
            sockets[i].Options.HeartbeatTimeout = TimeSpan.FromMilliseconds(timeout);
            bound[i] = sockets[i].Bind(endpoints[i / 2]);
            _ = CountAsync(sockets[i], received, i);
        }

        Console.WriteLine($"READY {string.Join(' ', bound)}");
        while (await Console.In.ReadLineAsync() is not null)
        {
            Console.WriteLine($"RECEIVED {string.Join(' ', received)}");
        }

        return 0;
    }

    /// <summary>A DEALER or PAIR with a routing id. A line of input is how many messages to send first. Says COUNTED: accepted, dropped,
    /// unconfirmed, queued, and how often it connected.</summary>
    public static async Task<int> SendAsync(bool isPair, string endpoint, string routingId)
    {
        await using var context = new ZlinkContext(new ZlinkContextOptions { ShutdownTimeout = TimeSpan.FromSeconds(1) });
        DuplexSocket socket = isPair ? context.CreatePair() : context.CreateDealer();
        socket.Options.RoutingId = System.Text.Encoding.ASCII.GetBytes(routingId);
        socket.Options.ReconnectInterval = TimeSpan.FromMilliseconds(10);
        socket.Connect(endpoint);
        while (await Console.In.ReadLineAsync() is { } line)
        {
            for (int i = int.Parse(line, CultureInfo.InvariantCulture); i > 0; i--)
            {
                await socket.SendAsync("from the process"u8.ToArray());
            }

            SocketStatistics counts = socket.GetStatistics();
            Console.WriteLine(string.Create(CultureInfo.InvariantCulture,
                $"COUNTED {counts.AcceptedMessages} {counts.DroppedMessages} {counts.UnconfirmedMessages} {counts.QueuedMessages} "
                + $"{counts.DialledConnections}"));
        }

        return 0;
    }

    private static async Task CountAsync(ReceivingSocket socket, long[] received, int index)
    {
        await foreach (Message message in socket.ReceiveAllAsync())
        {
            message.Dispose();
            Interlocked.Increment(ref received[index]);
        }
    }
}
