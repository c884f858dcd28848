using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Sockets.Links;
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

    public static TheoryData<byte> Types => [(byte)ZmpSocketType.Router, (byte)ZmpSocketType.Pair];

    [Theory]
    [MemberData(nameof(Types))]
    public async Task A_silent_holder_ends_after_2_seconds_without_an_ERROR_and_what_the_newcomer_sent_meanwhile_is_received(byte type)
    {
        await using var fixture = new MemoryFixture();
        (ReceivingSocket socket, string endpoint, MemoryPeer holder) = Open(fixture, type);
        MemoryPeer newcomer = fixture.Connect(endpoint);
        fixture.Send(newcomer, (byte[])[.. Greeting(type), .. ZmpFixture.Frame(0, "early"u8), .. Question]);
        Assert.Equal(Question, holder.ReadAll());
        fixture.Send(newcomer, ZmpFixture.Frame(0, "later"u8));
        Assert.False(socket.TryReceive(out _));
        fixture.Advance(TimeSpan.FromSeconds(1.9));
        Assert.Equal(1, socket.PeerCount);
        Assert.False(holder.HasEnded);
        Assert.Equal(OwnGreeting(type), newcomer.ReadAll());
        fixture.Advance(TimeSpan.FromSeconds(0.2));
        Assert.True(holder.IsClosed);
        Assert.Equal(0, holder.Unread);
        Assert.Equal("early", Text(socket));
        Assert.Equal("later", Text(socket));
        Assert.Equal(Answer, newcomer.ReadAll());
        Assert.Equal(0, socket.GetStatistics().RefusedConnections);
    }

    [Theory]
    [MemberData(nameof(Types))]
    public async Task A_holder_that_answers_stays_and_the_newcomer_is_closed_without_an_ERROR(byte type)
    {
        await using var fixture = new MemoryFixture();
        (ReceivingSocket socket, string endpoint, MemoryPeer holder) = Open(fixture, type);
        MemoryPeer newcomer = fixture.Connect(endpoint);
        fixture.Send(newcomer, (byte[])[.. Greeting(type), .. ZmpFixture.Frame(0, "lost"u8)]);
        fixture.Send(holder, (byte[])[.. Answer, .. ZmpFixture.Frame(0, "here"u8)]);
        Assert.Equal("here", Text(socket));
        fixture.Advance(TimeSpan.FromMilliseconds(250));
        Assert.Equal(OwnGreeting(type), newcomer.ReadAll());
        Assert.True(newcomer.IsClosed);
        Assert.False(socket.TryReceive(out _));
        Assert.Equal(1, socket.GetStatistics().RefusedConnections);
    }

    [Theory]
    [MemberData(nameof(Types))]
    public async Task A_holder_that_sends_data_keeps_its_place_and_is_judged_at_the_end_of_the_time_only(byte type)
    {
        await using var fixture = new MemoryFixture();
        (ReceivingSocket socket, string endpoint, MemoryPeer holder) = Open(fixture, type);
        MemoryPeer newcomer = fixture.Connect(endpoint);
        fixture.Send(newcomer, (byte[])[.. Greeting(type), .. ZmpFixture.Frame(0, "next"u8)]);
        Assert.Equal(Question, holder.ReadAll());
        fixture.Send(holder, ZmpFixture.Frame(0, "last"u8));
        Assert.Equal("last", Text(socket));
        holder.EndSending();
        fixture.Settle();
        Assert.Equal("next", Text(socket));

        MemoryPeer third = fixture.Connect(endpoint);
        fixture.Send(third, Greeting(type));
        Assert.Equal((byte[])[.. OwnGreeting(type), .. Question], newcomer.ReadAll());
        fixture.Send(newcomer, ZmpFixture.Frame(0, "alive"u8));
        Assert.Equal("alive", Text(socket));
        fixture.Advance(TimeSpan.FromSeconds(2));
        Assert.True(third.IsClosed);
        Assert.Equal(1, socket.PeerCount);
    }

    [Fact]
    public async Task A_flood_of_newcomers_costs_one_question_and_a_short_line_and_the_newest_of_them_gets_the_id()
    {
        const byte Type = (byte)ZmpSocketType.Router;
        await using var fixture = new MemoryFixture();
        (ReceivingSocket socket, string endpoint, MemoryPeer holder) = Open(fixture, Type);
        for (int i = 0; i < 50; i++)
        {
            MemoryPeer newcomer = fixture.Connect(endpoint);
            fixture.Send(newcomer, (byte[])[.. Greeting(Type), .. ZmpFixture.Frame(0, System.Text.Encoding.ASCII.GetBytes($"{i}"))]);
            Assert.Equal(Math.Max(0, i + 1 - PlaceClaims.MaxWaiting), socket.GetStatistics().RefusedConnections);
        }

        Assert.Equal(Question, holder.ReadAll());
        fixture.Advance(TimeSpan.FromSeconds(2));
        for (int i = 0; i < PlaceClaims.MaxWaiting - 1; i++)
        {
            Assert.Equal($"{i}", Text(socket));
            fixture.Settle();
        }

        Assert.Equal("49", Text(socket));
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
        await using var fixture = new MemoryFixture();
        RouterSocket router = fixture.Context.CreateRouter(new RouterOptions { ReceiveHighWaterMark = 2, Linger = TimeSpan.Zero });
        string endpoint = router.Bind(MemoryTransport.NewEndpoint());
        byte[] messages = [.. ZmpFixture.Frame(0, "1"u8), .. ZmpFixture.Frame(0, "2"u8), .. ZmpFixture.Frame(0, "3"u8)];
        fixture.Send(fixture.Connect(endpoint), (byte[])[.. ZmpFixture.DealerGreeting(Id), .. messages]);
        MemoryPeer newcomer = fixture.Connect(endpoint);
        fixture.Send(newcomer, ZmpFixture.DealerGreeting(Id));
        fixture.Advance(TimeSpan.FromMilliseconds(250));
        Assert.True(newcomer.IsClosed);
        Assert.Equal(1, router.PeerCount);
    }

    [Fact]
    public async Task A_routing_id_of_a_dialled_connection_is_not_given_to_a_newcomer()
    {
        await using var fixture = new MemoryFixture();
        string bound = MemoryTransport.NewEndpoint();
        var router = (RouterSocket)Bound(fixture, ZmpSocketType.Router, bound);
        string far = MemoryTransport.NewEndpoint();
        MemoryTransport.MemoryListener listener = fixture.Own(MemoryTransport.Listen(far));
        router.Connect(far);
        MemoryPeer dialled = fixture.Own(listener.Take());
        fixture.Send(dialled, ZmpFixture.DealerGreeting(Id));
        Assert.True(router.TryGetPeer(Id, out PeerInfo? peer) && peer.IsConnected);
        MemoryPeer newcomer = fixture.Connect(bound);
        fixture.Send(newcomer, ZmpFixture.DealerGreeting(Id));
        fixture.Advance(TimeSpan.FromMilliseconds(250));
        Assert.True(newcomer.IsClosed);
        Assert.Equal(1, router.GetStatistics().RefusedConnections);
    }

    [Theory]
    [InlineData("tcp://127.0.0.1:*")]
    [InlineData("ipc://*")]
    [InlineData("ws://127.0.0.1:*")]
    public async Task A_client_that_closes_its_socket_and_opens_another_with_the_same_id_is_heard_each_time(string endpoint)
    {
        await using var fixture = new ContextFixture();
        var router = (RouterSocket)Bound(fixture, ZmpSocketType.Router, endpoint);
        endpoint = router.LastEndpoint;
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
        var router = (RouterSocket)Bound(fixture, ZmpSocketType.Router, "tcp://127.0.0.1:*");
        endpoint = router.LastEndpoint;
        return router;
    }

    private static ReceivingSocket Bound(ContextFixture fixture, ZmpSocketType type, string endpoint)
    {
        byte[] id = "server"u8.ToArray();
        ReceivingSocket socket = type == ZmpSocketType.Pair
            ? fixture.Context.CreatePair(new PairOptions { RoutingId = id, Linger = TimeSpan.Zero })
            : fixture.Context.CreateRouter(
                new RouterOptions { RoutingId = id, Linger = TimeSpan.Zero, Mandatory = true, SendBufferSize = 16 * 1024 });
        socket.Bind(endpoint);
        return socket;
    }

    /// <summary>A socket, and a peer that has its place, and has read the greeting.</summary>
    private static (ReceivingSocket Socket, string Endpoint, MemoryPeer Holder) Open(MemoryFixture fixture, byte type)
    {
        string endpoint = MemoryTransport.NewEndpoint();
        ReceivingSocket socket = Bound(fixture, (ZmpSocketType)type, endpoint);
        MemoryPeer holder = fixture.Connect(endpoint);
        fixture.Send(holder, Greeting(type));
        Assert.Equal(OwnGreeting(type), holder.ReadAll());
        Assert.True(Assert.Single(socket.GetPeers()).IsConnected);
        return (socket, endpoint, holder);
    }

    private static string Text(ReceivingSocket socket)
    {
        Assert.True(socket.TryReceive(out Message message));
        using (message)
        {
            return message.GetString();
        }
    }

    private static async Task<string> TextAsync(ReceivingSocket socket)
    {
        using Message message = await socket.ReceiveAsync(Guard.Token).Guarded();
        return message.GetString();
    }
}
