using System.Globalization;
using Net.Zlink.Monitoring;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Tests.Support;
using Samples;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>A server or a client that stands still for longer than heartbeats bear: what its peers send is received, or counted as
/// lost.</summary>
public sealed class StoppedPeerTests
{
    private const string Id = "client";

    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);
    private static readonly string[] Endpoints = ["tcp://127.0.0.1:*", "ws://127.0.0.1:*", "ipc://*"];

    public static TheoryData<byte, string> Servers =>
        [.. from type in new[] { (byte)ZmpSocketType.Router, (byte)ZmpSocketType.Pair } from endpoint in Endpoints select (type, endpoint)];

    [Theory]
    [MemberData(nameof(Servers))]
    public async Task A_server_that_stands_still_for_twice_its_heartbeat_timeout_costs_no_message_that_is_not_counted(
        byte type, string endpoint)
    {
        Assert.SkipWhen(OperatingSystem.IsWindows() && endpoint.StartsWith("ipc", StringComparison.Ordinal), "ipc over sockets of files");
        var time = new ManualTimeProvider();
        await using var server = new StreamFixture(shards: 1, furtherShards: 0, time: time);
        await using var clients = new ContextFixture(time: time);
        using var holding = new BlockingHandler("received");
        ReceivingSocket socket = type == (byte)ZmpSocketType.Pair ? server.Context.CreatePair() : server.Context.CreateRouter();
        DuplexSocket client = type == (byte)ZmpSocketType.Pair ? clients.Context.CreatePair() : clients.Context.CreateDealer();
        SetHeartbeats(socket, Second);
        SetHeartbeats(client, Second);
        client.Connect(socket.Bind(endpoint));
        using EventReader monitor = client.ReadEvents(SocketEventTypes.Disconnected);
        HashSet<string> received = [];
        for (int i = 0; i < 10; i++)
        {
            client.Send($"{i}");
        }

        await server.UntilAsync(() => Take(socket, received) == 10);
        RawPeer busy = await HoldAsync(server, holding);
        int sent = 10;
        for (int second = 0; second < 6; second++)
        {
            for (int i = 0; i < 5; i++)
            {
                client.Send($"{sent++}");
            }

            time.Advance(Second);
            await clients.SettleAsync();
        }

        Assert.True(monitor.TryRead(out SocketEvent lost));
        Assert.Equal((long)DisconnectReason.HeartbeatTimeout, lost.Value);
        holding.Open();
        await UntilCountedAsync(time, [server, clients], () => Take(socket, received), client, sent);
        busy.Reset();
    }

    /// <summary>The first connection is gone, on the client's side and in its system, when the server reads on.</summary>
    [Theory]
    [InlineData("tcp://127.0.0.1:*")]
    [InlineData("tls://127.0.0.1:*")]
    [InlineData("ws://127.0.0.1:*")]
    [InlineData("wss://127.0.0.1:*")]
    [InlineData("ipc://*")]
    public async Task A_server_that_stands_still_until_its_client_has_disposed_of_the_connection_receives_what_lies_in_it(string endpoint)
    {
        Assert.SkipWhen(OperatingSystem.IsWindows() || OperatingSystem.IsMacOS(), "A reset destroys what lies unread.");
        using var certificates = new TestCertificates();
        var time = new ManualTimeProvider();
        await using var server = new StreamFixture(shards: 1, furtherShards: 0, time: time);
        await using var clients = new ContextFixture(time: time);
        using var holding = new BlockingHandler("received");
        RouterSocket router = server.Context.CreateRouter();
        DealerSocket client = clients.Context.CreateDealer();
        router.Options.Tls.CertificateFile = certificates.CertificateFile;
        router.Options.Tls.KeyFile = certificates.KeyFile;
        client.Options.Tls.CaFile = certificates.CaFile;
        SetHeartbeats(router, Second);
        SetHeartbeats(client, Second);
        string bound = router.Bind(endpoint);
        client.Connect(bound);
        HashSet<string> received = [];
        client.Send("first");
        await server.UntilAsync(() => Take(router, received) == 1);
        RawPeer busy = await HoldAsync(server, holding);
        int sent = 1;
        for (int second = 0; second < 12; second++)
        {
            for (int i = 0; i < 5; i++, sent++)
            {
                client.Send($"{sent} {new string('x', 2000)}");
                await clients.UntilAsync(() => second > 2 || client.GetStatistics().QueuedMessages == 0);
            }

            time.Advance(Second);
            await clients.SettleAsync();
        }

        // The client's system may hold back the last segments for 40 ms, until the server's confirms the first (RFC 1122, 4.2.3.2). Bytes
        // that have not left it when the server answers are gone, because no one is there for the answer.
        await clients.UntilAsync(() => UnconfirmedBytes(bound) == 0);
        holding.Open();
        await UntilCountedAsync(time, [server, clients], () => Take(router, received), client, sent, isCounted: false);
        Assert.Equal(sent, received.Count);
        busy.Reset();
    }

    [SlowFact]
    public async Task A_server_process_that_is_stopped_costs_no_message_that_is_not_counted()
    {
        Assert.SkipWhen(OperatingSystem.IsWindows(), "There are no signals.");
        await using var fixture = new ContextFixture();
        await using ChildProcess server = Programs.Child(["serve", "200", "600", .. Endpoints]).Start();
        string[] bound = (await server.ReadLineAsync("READY")).Split(' ')[1..];
        DuplexSocket[] clients = [.. bound.Select((_, i) => i % 2 == 0 ? (DuplexSocket)fixture.Context.CreateDealer()
            : fixture.Context.CreatePair())];
        for (int i = 0; i < clients.Length; i++)
        {
            SetHeartbeats(clients[i], TimeSpan.FromMilliseconds(200));
            clients[i].Connect(bound[i]);
            Send(clients[i], 20);
        }

        await UntilCountedAsync(server, clients);
        EventReader[] monitors =
            [.. clients.Select(client => fixture.Own(client.ReadEvents(SocketEventTypes.Disconnected | SocketEventTypes.Connected)))];
        await server.SignalAsync("STOP");
        foreach ((DuplexSocket client, EventReader monitor) in clients.Zip(monitors))
        {
            // Its system accepts the next connection in its stead.
            Send(client, 20);
            await monitor.NextAsync(SocketEventTypes.Disconnected);
            Send(client, 20);
            await monitor.NextAsync(SocketEventTypes.Connected);
            Send(client, 20);
        }

        await server.SignalAsync("CONT");
        await UntilCountedAsync(server, clients);
    }

    [Theory]
    [InlineData("DEALER")]
    [InlineData("PAIR")]
    public async Task The_place_of_a_process_that_is_stopped_goes_to_a_newcomer_after_2_seconds_and_back_when_that_leaves(string type)
    {
        Assert.SkipWhen(OperatingSystem.IsWindows(), "There are no signals.");
        var time = new ManualTimeProvider();
        await using var fixture = new ContextFixture(time: time);
        bool isPair = type is "PAIR";
        ReceivingSocket socket = isPair ? fixture.Context.CreatePair() : fixture.Context.CreateRouter();
        string endpoint = socket.Bind("tcp://127.0.0.1:*");
        await using ChildProcess holder = Programs.Child("send", type, endpoint, Id).Start();
        holder.Send("10");
        int received = 0;
        await fixture.UntilAsync(() => (received += TakeAll(socket)) == 10);
        await holder.ReadLineAsync("COUNTED");
        await holder.SignalAsync("STOP");

        DuplexSocket newcomer = isPair ? fixture.Context.CreatePair() : fixture.Context.CreateDealer();
        newcomer.Options.RoutingId = System.Text.Encoding.ASCII.GetBytes(Id);
        newcomer.Options.Linger = TimeSpan.Zero;
        newcomer.Connect(endpoint);
        newcomer.Send("here");
        await fixture.UntilAsync(() => newcomer.GetStatistics().WrittenMessages == 1);
        await fixture.SettleAsync();
        TimeSpan asked = time.Elapsed;
        long started = TimeProvider.System.GetTimestamp();
        while (TakeAll(socket) == 0)
        {
            Assert.True(TimeProvider.System.GetElapsedTime(started) < Guard.Limit, "the newcomer is not served");
            time.Advance(Second / 10);
            await fixture.SettleAsync();
        }

        Assert.InRange(time.Elapsed - asked, Second * 1.9, Second * 2.5);
        await holder.SignalAsync("CONT");

        // What it writes before it has read the end of its old connection is lost with that, as over any tcp connection.
        await UntilAsync(static counts => counts[4] >= 2);
        holder.Send("5");
        await holder.ReadLineAsync("COUNTED");
        newcomer.Dispose();
        await UntilAsync(counts => counts[0] == 15 && counts[3] == 0 && received + counts[1] + counts[2] >= 15);
        Assert.InRange(received, 10, 15);

        async Task UntilAsync(Func<long[], bool> isSo)
        {
            started = TimeProvider.System.GetTimestamp();
            long[] counts;
            do
            {
                time.Advance(Second / 10);
                await fixture.SettleAsync();
                received += TakeAll(socket);
                holder.Send("0");
                counts = Numbers(await holder.ReadLineAsync("COUNTED"));
                Assert.True(TimeProvider.System.GetElapsedTime(started) < Guard.Limit,
                    $"{received} received; accepted, dropped, unconfirmed, queued, connections: {string.Join(' ', counts)}");
            }
            while (!isSo(counts));
        }
    }

    /// <summary>What the system has taken for this endpoint's server, and that server's has not.</summary>
    private static long UnconfirmedBytes(string endpoint)
    {
        const int Remote = 2;
        const int Queues = 4;
        string port = $":{new Uri(endpoint).Port:X4}"; // ipc has none, and holds nothing back.
        return File.ReadLines("/proc/net/tcp")
            .Select(static line => line.Split(' ', StringSplitOptions.RemoveEmptyEntries))
            .Where(columns => columns[Remote].EndsWith(port, StringComparison.Ordinal))
            .Sum(static columns => long.Parse(columns[Queues].Split(':')[0], NumberStyles.HexNumber, CultureInfo.InvariantCulture));
    }

    private static void SetHeartbeats(ZmpSocket socket, TimeSpan interval)
    {
        socket.Options.Linger = TimeSpan.Zero;
        socket.Options.HeartbeatInterval = interval;
        socket.Options.HeartbeatTimeout = 3 * interval;
    }

    private static void Send(DuplexSocket client, int count)
    {
        for (int i = 0; i < count; i++)
        {
            client.Send("x");
        }
    }

    /// <summary>How many different ones there are so far; the same one twice is a failure.</summary>
    private static int Take(ReceivingSocket socket, HashSet<string> received)
    {
        while (socket.TryReceive(out Message message))
        {
            using (message)
            {
                Assert.True(received.Add(message.GetString()));
            }
        }

        return received.Count;
    }

    private static int TakeAll(ReceivingSocket socket)
    {
        int count = 0;
        for (; socket.TryReceive(out Message message); count++)
        {
            message.Dispose();
        }

        return count;
    }

    private static async Task UntilCountedAsync(
        ManualTimeProvider time, ContextFixture[] fixtures, Func<int> take, DuplexSocket client, int sent, bool isCounted = true)
    {
        long started = TimeProvider.System.GetTimestamp();
        while (true)
        {
            time.Advance(Second / 10);
            foreach (ContextFixture fixture in fixtures)
            {
                await fixture.SettleAsync();
            }

            SocketStatistics counts = client.GetStatistics();
            int received = take();
            long others = isCounted ? counts.DroppedMessages + counts.UnconfirmedMessages : 0;
            if (counts.QueuedMessages == 0 && received + others >= sent)
            {
                return;
            }

            Assert.True(TimeProvider.System.GetElapsedTime(started) < Guard.Limit,
                $"{sent} sent, {received} received, {counts.DroppedMessages} dropped, {counts.UnconfirmedMessages} unconfirmed, "
                + $"{counts.QueuedMessages} queued");
        }
    }

    private static async Task UntilCountedAsync(ChildProcess server, DuplexSocket[] clients)
    {
        long started = TimeProvider.System.GetTimestamp();
        while (true)
        {
            server.Send("");
            long[] received = Numbers(await server.ReadLineAsync("RECEIVED"));
            SocketStatistics[] counts = [.. clients.Select(static client => client.GetStatistics())];
            if (counts.Zip(received).All(static one => one.First.QueuedMessages == 0
                && one.Second + one.First.DroppedMessages + one.First.UnconfirmedMessages >= one.First.AcceptedMessages))
            {
                Assert.All(counts.Zip(received), static one => Assert.True(one.Second <= one.First.AcceptedMessages));
                return;
            }

            Assert.True(TimeProvider.System.GetElapsedTime(started) < Guard.Limit, string.Join('\n', counts.Zip(received).Select(
                static one => $"{one.First.AcceptedMessages} sent, {one.Second} received, {one.First.DroppedMessages} dropped, "
                    + $"{one.First.UnconfirmedMessages} unconfirmed, {one.First.QueuedMessages} queued")));
        }
    }

    private static long[] Numbers(string line) =>
        [.. line.Split(' ')[1..].Select(static text => long.Parse(text, CultureInfo.InvariantCulture))];

    /// <summary>The only shard is at a standstill when this returns.</summary>
    private static async Task<RawPeer> HoldAsync(StreamFixture fixture, BlockingHandler holding)
    {
        fixture.Bind(holding, out string held);
        RawPeer busy = await fixture.ConnectAsync(held);
        await busy.SendFrameAsync(1);
        await holding.EnteredAsync();
        return busy;
    }
}
