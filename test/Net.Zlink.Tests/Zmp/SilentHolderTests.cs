using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Sockets.Zmp;
using Net.Zlink.Tests.Protocol.Zmp;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>A ROUTER or PAIR that meets a newcomer whose place another connection has: it asks that one whether it is still
/// there.</summary>
public sealed class SilentHolderTests
{
    private static readonly byte[] Id = "client"u8.ToArray();
    private static readonly byte[] Question = ZmpFixture.Control("02 0000 00");
    private static readonly byte[] Answer = ZmpFixture.Control("03 00");

    public static TheoryData<byte, string> Places => new()
    {
        { (byte)ZmpSocketType.Router, "tcp://127.0.0.1:*" }, { (byte)ZmpSocketType.Router, "ipc://*" },
        { (byte)ZmpSocketType.Pair, "tcp://127.0.0.1:*" }, { (byte)ZmpSocketType.Pair, "ipc://*" },
    };

    [Theory]
    [MemberData(nameof(Places))]
    public async Task A_silent_holder_ends_after_2_seconds_without_an_ERROR_and_what_the_newcomer_sent_meanwhile_is_received(
        byte type, string endpoint)
    {
        var time = new ManualTimeProvider();
        await using var fixture = new ContextFixture(time: time);
        ReceivingSocket socket = Bound(fixture, (ZmpSocketType)type, ref endpoint);
        RawPeer holder = await InAsync(fixture, socket, endpoint, type);
        RawPeer newcomer = await fixture.ConnectAsync(endpoint);
        await newcomer.SendAsync((byte[])[.. Greeting(type), .. ZmpFixture.Frame(0, "early"u8), .. Question]);
        Assert.Equal(Question, await holder.ReadAsync(Question.Length));
        await newcomer.SendAsync(ZmpFixture.Frame(0, "later"u8));
        Assert.False(socket.TryReceive(out _));
        time.Advance(TimeSpan.FromSeconds(1.9));
        await fixture.SettleAsync();
        Assert.Equal(1, socket.PeerCount);
        Assert.Equal(OwnGreeting(type), await newcomer.ReadAsync(OwnGreeting(type).Length));
        Assert.Equal(0, newcomer.Socket.Available);
        time.Advance(TimeSpan.FromSeconds(0.2));
        Assert.Empty(await holder.ReadToEndAsync());
        Assert.Equal("early", await TextAsync(socket));
        Assert.Equal("later", await TextAsync(socket));
        Assert.Equal(Answer, await newcomer.ReadAsync(Answer.Length));
        Assert.Equal(0, socket.GetStatistics().RefusedConnections);
    }

    [Theory]
    [MemberData(nameof(Places))]
    public async Task A_holder_that_answers_stays_and_the_newcomer_is_closed_without_an_ERROR(byte type, string endpoint)
    {
        var time = new ManualTimeProvider();
        await using var fixture = new ContextFixture(time: time);
        ReceivingSocket socket = Bound(fixture, (ZmpSocketType)type, ref endpoint);
        RawPeer holder = await InAsync(fixture, socket, endpoint, type);
        RawPeer newcomer = await fixture.ConnectAsync(endpoint);
        await newcomer.SendAsync((byte[])[.. Greeting(type), .. ZmpFixture.Frame(0, "lost"u8)]);
        await holder.ReadAsync(Question.Length);
        await holder.SendAsync((byte[])[.. Answer, .. ZmpFixture.Frame(0, "here"u8)]);
        Assert.Equal("here", await TextAsync(socket));
        time.Advance(TimeSpan.FromMilliseconds(250));
        Assert.Equal(OwnGreeting(type), await newcomer.ReadToEndAsync());
        Assert.False(socket.TryReceive(out _));
        Assert.Equal(1, socket.GetStatistics().RefusedConnections);
        newcomer.Dispose();
    }

    [Theory]
    [MemberData(nameof(Places))]
    public async Task A_holder_that_sends_data_keeps_its_place_and_is_judged_at_the_end_of_the_time_only(byte type, string endpoint)
    {
        var time = new ManualTimeProvider();
        await using var fixture = new ContextFixture(time: time);
        ReceivingSocket socket = Bound(fixture, (ZmpSocketType)type, ref endpoint);
        RawPeer holder = await InAsync(fixture, socket, endpoint, type);
        RawPeer newcomer = await fixture.ConnectAsync(endpoint);
        await newcomer.SendAsync((byte[])[.. Greeting(type), .. ZmpFixture.Frame(0, "next"u8)]);
        await holder.ReadAsync(Question.Length);
        await holder.SendAsync(ZmpFixture.Frame(0, "last"u8));
        Assert.Equal("last", await TextAsync(socket));
        await fixture.SettleAsync();
        holder.Dispose();
        Assert.Equal("next", await TextAsync(socket));

        RawPeer third = await fixture.ConnectAsync(endpoint);
        await third.SendAsync(Greeting(type));
        await newcomer.ReadAsync(OwnGreeting(type).Length + Question.Length);
        await newcomer.SendAsync(ZmpFixture.Frame(0, "alive"u8));
        Assert.Equal("alive", await TextAsync(socket));
        time.Advance(TimeSpan.FromSeconds(2));
        await third.ReadToEndAsync();
        Assert.Equal(1, socket.PeerCount);
    }

    [Fact]
    public async Task A_flood_of_newcomers_costs_one_question_and_a_short_line_and_the_newest_of_them_gets_the_id()
    {
        var time = new ManualTimeProvider();
        await using var fixture = new ContextFixture(time: time);
        string endpoint = "tcp://127.0.0.1:*";
        ReceivingSocket socket = Bound(fixture, ZmpSocketType.Router, ref endpoint);
        const byte Type = (byte)ZmpSocketType.Router;
        RawPeer holder = await InAsync(fixture, socket, endpoint, Type);
        byte[] greeting = Greeting(Type);
        for (int i = 0; i < 50; i++)
        {
            RawPeer newcomer = await fixture.ConnectAsync(endpoint);
            await newcomer.SendAsync((byte[])[.. greeting, .. ZmpFixture.Frame(0, System.Text.Encoding.ASCII.GetBytes($"{i}"))]);
            await newcomer.ReadAsync(OwnGreeting(Type).Length);
            await fixture.UntilAsync(() => socket.GetStatistics().RefusedConnections == Math.Max(0, i + 1 - PlaceClaims.MaxWaiting));
            await fixture.SettleAsync(); // It waits in the line before the next one comes.
        }

        Assert.Equal(Question, await holder.ReadAsync(Question.Length));
        await fixture.SettleAsync();
        Assert.Equal(0, holder.Socket.Available);
        time.Advance(TimeSpan.FromSeconds(2));
        for (int i = 0; i < PlaceClaims.MaxWaiting - 1; i++)
        {
            Assert.Equal($"{i}", await TextAsync(socket));
        }

        Assert.Equal("49", await TextAsync(socket));
        Assert.Equal(49, socket.GetStatistics().RefusedConnections);
        Assert.Equal(1, socket.PeerCount);
    }

    [Fact]
    public async Task Messages_queued_for_a_silent_holder_are_dropped_and_counted_and_never_sent_to_the_newcomer()
    {
        var time = new ManualTimeProvider();
        await using var fixture = new ContextFixture(time: time);
        var router = BoundRouter(fixture, out string endpoint);
        router.Options.SendHighWaterMark = 1;
        await StalledPeers.ConnectAsync(fixture, router, endpoint, Id);
        while (router.CanSendTo(Id))
        {
            router.To(Id).Send(Wire.Huge);
        }

        RawPeer newcomer = await fixture.ConnectAsync(endpoint);
        await newcomer.SendAsync(ZmpFixture.DealerGreeting(Id));
        await newcomer.ReadAsync(OwnGreeting((byte)ZmpSocketType.Router).Length);
        await fixture.SettleAsync();
        time.Advance(TimeSpan.FromSeconds(2));
        await fixture.SettleAsync();
        time.Advance(TimeSpan.FromSeconds(2)); // Its system may have taken something meanwhile, which is a sign of life.
        await fixture.UntilAsync(() => router.CanSendTo(Id));
        router.To(Id).Send("for the newcomer"u8);
        byte[] expected = ZmpFixture.Frame(0, "for the newcomer"u8);
        Assert.Equal(expected, await newcomer.ReadAsync(expected.Length));
        time.Advance(TimeSpan.FromSeconds(6)); // CloseTimeout of the other.
        await fixture.UntilAsync(() => router.GetStatistics().DroppedMessages > 0);
    }

    [Fact]
    public async Task A_holder_whose_messages_the_application_does_not_read_stays()
    {
        await using var fixture = new ContextFixture(time: new ManualTimeProvider());
        RouterSocket router = fixture.Context.CreateRouter(new RouterOptions { ReceiveHighWaterMark = 2, Linger = TimeSpan.Zero });
        string endpoint = router.Bind("tcp://127.0.0.1:*");
        RawPeer holder = await fixture.ConnectAsync(endpoint);
        await holder.SendAsync(
            (byte[])[.. ZmpFixture.DealerGreeting(Id), .. ZmpFixture.Frame(0, "1"u8), .. ZmpFixture.Frame(0, "2"u8),
                .. ZmpFixture.Frame(0, "3"u8)]);
        await fixture.UntilAsync(() => router.GetStatistics().UnreadMessages >= 2);
        await fixture.SettleAsync();
        RawPeer newcomer = await fixture.ConnectAsync(endpoint);
        await newcomer.SendAsync(ZmpFixture.DealerGreeting(Id));
        await newcomer.ReadToEndAsync();
        Assert.Equal(1, router.PeerCount);
    }

    [Fact]
    public async Task A_routing_id_of_a_dialled_connection_is_not_given_to_a_newcomer()
    {
        await using var fixture = new ContextFixture(time: new ManualTimeProvider());
        var router = BoundRouter(fixture, out string endpoint);
        RawListener listener = fixture.Listen();
        router.Connect(listener.Endpoint);
        using RawPeer dialled = await listener.AcceptAsync();
        await dialled.SendAsync(ZmpFixture.DealerGreeting(Id));
        await fixture.UntilAsync(() => router.TryGetPeer(Id, out PeerInfo? peer) && peer.IsConnected);
        RawPeer newcomer = await fixture.ConnectAsync(endpoint);
        await newcomer.SendAsync(ZmpFixture.DealerGreeting(Id));
        await newcomer.ReadToEndAsync();
        Assert.Equal(1, router.GetStatistics().RefusedConnections);
    }

    [Theory]
    [InlineData("tcp://127.0.0.1:*")]
    [InlineData("ipc://*")]
    [InlineData("ws://127.0.0.1:*")]
    public async Task A_client_that_closes_its_socket_and_opens_another_with_the_same_id_is_heard_each_time(string endpoint)
    {
        await using var fixture = new ContextFixture();
        var router = (RouterSocket)Bound(fixture, ZmpSocketType.Router, ref endpoint);
        for (int i = 0; i < 100; i++)
        {
            DealerSocket client = fixture.Context.CreateDealer(new DealerOptions { RoutingId = Id, Linger = TimeSpan.Zero });
            client.Connect(endpoint);
            client.Send($"{i}");
            Assert.Equal($"{i}", await TextAsync(router));
            client.Dispose();
        }
    }

    [Fact]
    public async Task A_client_whose_address_changed_behind_a_NAT_is_answered()
    {
        await using var fixture = new ContextFixture();
        var router = BoundRouter(fixture, out string endpoint);
        RawListener nat = fixture.Listen();
        DealerSocket client = fixture.Context.CreateDealer(
            new DealerOptions { Linger = TimeSpan.Zero, ReconnectInterval = TimeSpan.FromMilliseconds(1) });
        client.Connect(nat.Endpoint);
        using (RawPeer leg = await nat.AcceptAsync())
        {
            RawPeer server = await fixture.ConnectAsync(endpoint);
            client.Send("one");
            await server.SendAsync(await leg.ReadAsync(ZmpFixture.DealerGreeting(new byte[16]).Length));
            await leg.SendAsync(await server.ReadAsync(OwnGreeting((byte)ZmpSocketType.Router).Length));
            await server.SendAsync(await leg.ReadAsync(ZmpFrame.HeaderSize + 3));
            Assert.Equal("one", await TextAsync(router));
            leg.Reset(); // The server is told nothing.
        }

        client.Send("two");
        using RawPeer next = await nat.AcceptAsync();
        RawPeer other = await fixture.ConnectAsync(endpoint);
        Task there = RelayAsync(next, other);
        Task back = RelayAsync(other, next);
        Assert.Equal("two", await TextAsync(router));
        next.Dispose();
        other.Dispose();
        await Task.WhenAll(there, back).Guarded();
    }

    private static async Task RelayAsync(RawPeer from, RawPeer to)
    {
        byte[] bytes = new byte[4096];
        try
        {
            while (await from.Socket.ReceiveAsync(bytes, Guard.Token) is var length and > 0)
            {
                await to.SendAsync(bytes.AsMemory(0, length));
            }
        }
        catch (Exception e) when (e is System.Net.Sockets.SocketException or ObjectDisposedException)
        {
            // The test is over.
        }
    }

    private static byte[] Greeting(byte type) => ZmpFixture.Greeting(PeerOf(type), Id);

    private static byte PeerOf(byte type) => type == (byte)ZmpSocketType.Pair ? type : (byte)ZmpSocketType.Dealer;

    private static byte[] OwnGreeting(byte type) => ZmpFixture.Greeting(type, "server"u8);

    private static RouterSocket BoundRouter(ContextFixture fixture, out string endpoint)
    {
        endpoint = "tcp://127.0.0.1:*";
        return (RouterSocket)Bound(fixture, ZmpSocketType.Router, ref endpoint);
    }

    private static ReceivingSocket Bound(ContextFixture fixture, ZmpSocketType type, ref string endpoint)
    {
        byte[] id = "server"u8.ToArray();
        ReceivingSocket socket = type == ZmpSocketType.Pair
            ? fixture.Context.CreatePair(new PairOptions { RoutingId = id, Linger = TimeSpan.Zero })
            : fixture.Context.CreateRouter(
                new RouterOptions { RoutingId = id, Linger = TimeSpan.Zero, Mandatory = true, SendBufferSize = 16 * 1024 });
        endpoint = socket.Bind(endpoint);
        return socket;
    }

    /// <summary>A peer that has its place, and has read the greeting.</summary>
    private static async Task<RawPeer> InAsync(ContextFixture fixture, ReceivingSocket socket, string endpoint, byte type)
    {
        RawPeer peer = await fixture.ConnectAsync(endpoint);
        await peer.SendAsync(Greeting(type));
        await peer.ReadAsync(OwnGreeting(type).Length);
        await fixture.UntilAsync(() => socket.GetPeers() is [{ IsConnected: true }]);
        return peer;
    }

    private static async Task<string> TextAsync(ReceivingSocket socket)
    {
        using Message message = await socket.ReceiveAsync(Guard.Token).Guarded();
        return message.GetString();
    }
}
