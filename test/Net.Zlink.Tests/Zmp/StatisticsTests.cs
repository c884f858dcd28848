using System.Globalization;
using Net.Zlink.Monitoring;
using Net.Zlink.Tests.Protocol.Zmp;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>What a socket says it has done, when peers come and go.</summary>
public sealed class StatisticsTests
{
    [Fact]
    public async Task Messages_that_only_wait_to_be_delivered_stay_in_the_counts_after_Disconnect_and_Dispose()
    {
        await using var fixture = new ContextFixture();
        DealerSocket sender = fixture.Context.CreateDealer(new DealerOptions { ReconnectInterval = TimeSpan.FromMilliseconds(1) });
        string endpoint = RawListener.NobodyListens();
        sender.Connect(endpoint);
        for (int i = 0; i < 3; i++)
        {
            sender.Send("waits"u8);
        }

        sender.Disconnect(endpoint);
        AssertWaits(sender);
        sender.Dispose();
        AssertWaits(sender);

        RouterSocket receiver = fixture.Context.CreateRouter();
        receiver.Bind(endpoint);
        for (int i = 0; i < 3; i++)
        {
            (await receiver.ReceiveAsync(Guard.Token).Guarded()).Dispose();
        }

        await fixture.UntilAsync(() => sender.GetStatistics()
            is { AcceptedMessages: 3, WrittenMessages: 3, QueuedMessages: 0, DroppedMessages: 0 });

        static void AssertWaits(DealerSocket socket)
        {
            SocketStatistics counters = socket.GetStatistics();
            Assert.Equal((3, 0, 3, 0), (counters.AcceptedMessages, counters.WrittenMessages, counters.QueuedMessages,
                counters.DroppedMessages));
        }
    }

    [Theory]
    [InlineData("tcp://127.0.0.1:0")]
    [InlineData("inproc://notices")]
    public async Task Subscription_notifications_of_an_XPUB_are_counted_like_messages(string endpoint)
    {
        await using var fixture = new ContextFixture();
        XPubSocket publisher = fixture.Context.CreateXPub();
        SubSocket subscriber = fixture.Context.CreateSub();
        subscriber.Connect(publisher.Bind(endpoint));
        subscriber.Subscribe("a");
        subscriber.Subscribe("b");
        await fixture.UntilAsync(() => publisher.GetStatistics() is { ReceivedMessages: 2, UnreadMessages: 2, DeliveredMessages: 0 });
        (await publisher.ReceiveAsync(Guard.Token).Guarded()).Dispose();
        SocketStatistics counters = publisher.GetStatistics();
        Assert.Equal((2, 1, 1), (counters.ReceivedMessages, counters.UnreadMessages, counters.DeliveredMessages));
    }

    [Fact]
    public async Task Messages_to_and_from_a_lost_peer_stay_counted()
    {
        await using var fixture = new ContextFixture();
        RouterSocket server = fixture.Context.CreateRouter(new RouterOptions { Mandatory = true });
        string endpoint = server.Bind("tcp://127.0.0.1:0");
        for (int round = 1; round <= 3; round++)
        {
            using RawPeer peer = await RawPeer.ConnectAsync(endpoint);
            await peer.SendAsync(Convert.FromHexString(
                "5A01020000000004010501" + "41" + "5A0102000000000104" + "5A010000000000026869" + "5A010000000000026869"));
            using Message message = await server.ReceiveAsync(Guard.Token).Guarded();
            server.To(message.RoutingId).Send("answer"u8);
            await fixture.UntilAsync(() => server.GetStatistics() is { QueuedMessages: 0 } s && s.ReceivedMessages == 2 * round);
            peer.Reset();
            int rounds = round;
            await fixture.UntilAsync(() => server.PeerCount == 0);
            SocketStatistics counters = server.GetStatistics();
            Assert.Equal((rounds, rounds, 0), (counters.AcceptedMessages, counters.WrittenMessages + counters.DroppedMessages,
                counters.QueuedMessages));
            Assert.Equal((2 * rounds, (2 * rounds) - 1, 1, 0),
                (counters.ReceivedMessages, counters.DeliveredMessages, counters.UnreadMessages, counters.DroppedUnreadMessages));
            Assert.Equal(rounds, counters.AcceptedConnections);
            Assert.True(server.TryReceive(out Message last)); // What a lost peer sent stays readable.
            last.Dispose();
        }

        Assert.Equal((6, 6, 0), (server.GetStatistics().ReceivedMessages, server.GetStatistics().DeliveredMessages,
            server.GetStatistics().UnreadMessages));
    }

    [Theory]
    [InlineData("tcp://127.0.0.1:0")]
    [InlineData("ipc://*")]
    public async Task How_long_ago_a_peer_was_last_read_and_last_written_to_is_told_by_the_contexts_clock(string endpoint)
    {
        var clock = new ManualTimeProvider();
        await using var fixture = new ContextFixture(time: clock);
        RouterSocket router = fixture.Context.CreateRouter(new RouterOptions { Linger = TimeSpan.Zero });
        clock.Advance(TimeSpan.FromHours(1)); // Nobody had come by then.
        RawPeer peer = await fixture.ConnectAsync(router.Bind(endpoint));
        await peer.SendAsync(ZmpFixture.DealerGreeting("A"u8));
        const int GreetingOfOurs = 8 + 3 + 16 + 9;
        await peer.ReadAsync(GreetingOfOurs);
        await fixture.UntilAsync(() => router.GetPeers() is [{ IsConnected: true, Outbound.Messages: 0 }]);
        await fixture.SettleAsync();
        AssertAgo(read: 0, written: 0);
        clock.Advance(TimeSpan.FromMilliseconds(250));
        AssertAgo(read: 250, written: 250);
        await peer.SendAsync(Convert.FromHexString("5A0100000000000178"));
        (await router.ReceiveAsync(Guard.Token).Guarded()).Dispose();
        AssertAgo(read: 0, written: 250);
        clock.Advance(TimeSpan.FromSeconds(3));
        router.To("A"u8).Send("y"u8);
        await peer.ReadAsync(9);
        await fixture.UntilAsync(() => router.GetPeers() is [{ MessagesSent: 1 }]);
        AssertAgo(read: 3_000, written: 0);
        await peer.SendAsync(Convert.FromHexString("5A010000000000")); // A part of a frame is news of it, too.
        await fixture.UntilAsync(() => router.GetPeers()[0].SinceLastRead == TimeSpan.Zero);
        clock.Advance(TimeSpan.FromSeconds(90));
        AssertAgo(read: 90_000, written: 90_000);

        void AssertAgo(int read, int written)
        {
            PeerInfo info = Assert.Single(router.GetPeers());
            Assert.Equal((TimeSpan.FromMilliseconds(read), TimeSpan.FromMilliseconds(written)), (info.SinceLastRead, info.SinceLastWrite));
            Assert.Contains(string.Create(CultureInfo.InvariantCulture, $", last read {read} ms ago, last write {written} ms ago"),
                router.Describe(), StringComparison.Ordinal);
        }
    }

    [Theory]
    [InlineData("inproc://here")]
    [InlineData("tcp://127.0.0.1:1")] // nobody listens
    public async Task Without_a_connection_nothing_was_ever_read_or_written(string endpoint)
    {
        await using var fixture = new ContextFixture();
        DealerSocket dealer = fixture.Context.CreateDealer(new DealerOptions { Linger = TimeSpan.Zero });
        if (endpoint.StartsWith("inproc", StringComparison.Ordinal))
        {
            fixture.Context.CreateRouter().Bind(endpoint);
        }

        dealer.Connect(endpoint);
        PeerInfo info = Assert.Single(dealer.GetPeers());
        Assert.Equal((null, null), (info.SinceLastRead, info.SinceLastWrite));
        Assert.Contains(", last read never, last write never", dealer.Describe(), StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_drop_is_an_event_with_its_number_and_the_peer_it_concerns()
    {
        await using var fixture = new ContextFixture();
        DealerSocket sender = fixture.Context.CreateDealer(new DealerOptions { Linger = TimeSpan.Zero });
        using EventReader monitor = sender.ReadEvents(SocketEventTypes.MessagesDropped);
        string endpoint = RawListener.NobodyListens();
        sender.Connect(endpoint);
        sender.Send("a"u8);
        sender.Send("b"u8);
        sender.Disconnect(endpoint);
        SocketEvent dropped = await monitor.ReadAsync(Guard.Token).Guarded();
        Assert.Equal((2L, endpoint), (dropped.Value, dropped.RemoteAddress));
        SocketStatistics counters = sender.GetStatistics();
        Assert.Equal((2, 0, 0, 2), (counters.AcceptedMessages, counters.WrittenMessages, counters.QueuedMessages,
            counters.DroppedMessages));
    }

    [Fact]
    public async Task Messages_for_a_name_that_nobody_ever_bound_are_dropped_and_counted_not_written()
    {
        await using var fixture = new ContextFixture();
        PairSocket sender = fixture.Context.CreatePair();
        sender.Connect("inproc://nobody");
        sender.Send("a"u8);
        sender.Send("b"u8);
        SocketStatistics waiting = sender.GetStatistics();
        Assert.Equal((2, 0, 2, 0), (waiting.AcceptedMessages, waiting.WrittenMessages, waiting.QueuedMessages, waiting.DroppedMessages));
        sender.Options.Linger = TimeSpan.Zero;
        sender.Disconnect("inproc://nobody");
        SocketStatistics counters = sender.GetStatistics();
        Assert.Equal((2, 0, 0, 2), (counters.AcceptedMessages, counters.WrittenMessages, counters.QueuedMessages,
            counters.DroppedMessages));
    }
}
