using Net.Zlink.Monitoring;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>Nothing goes uncounted, and a peer of this process is told of as one over a wire is.</summary>
public sealed class CountedTests
{
    private const int Count = 10;

    public static TheoryData<string> Transports => ["tcp://127.0.0.1:0", "inproc://counted"];

    [Theory]
    [MemberData(nameof(Transports))]
    public async Task Messages_sent_to_a_PUB_are_counted_as_filtered(string endpoint)
    {
        await using var fixture = new ContextFixture();
        PubSocket publisher = fixture.Context.CreatePub();
        XSubSocket subscriber = fixture.Context.CreateXSub();
        subscriber.Connect(publisher.Bind(endpoint));
        subscriber.Send("\u0001topic"u8);
        await fixture.UntilAsync(() => publisher.TopicCount == 1);
        for (int i = 0; i < Count; i++)
        {
            using MessageBuilder message = new MessageBuilder(fixture.Pool).Add("nobody"u8).Add("reads it"u8);
            subscriber.Send(message);
            if (i < 3)
            {
                // So the first ones come by reads of their own.
                await fixture.UntilAsync(() => publisher.GetStatistics().FilteredMessages > i);
            }
        }

        await fixture.UntilAsync(() => publisher.GetStatistics().FilteredMessages == Count);
        AssertBalance(publisher.GetStatistics(), Count, filtered: Count);
        Assert.Equal(Count * (8 + 6 + 8 + 8), publisher.GetStatistics().ReceivedBytes);
        Assert.Equal(1 + Count, Assert.Single(publisher.GetPeers()).MessagesReceived);
        Assert.Equal(1 + Count, subscriber.GetStatistics().WrittenMessages);
    }

    [Theory]
    [MemberData(nameof(Transports))]
    public async Task Messages_that_a_SUB_has_not_subscribed_to_are_counted_as_filtered(string endpoint)
    {
        await using var fixture = new ContextFixture();
        XPubSocket publisher = fixture.Context.CreateXPub(new XPubOptions { Manual = true });
        SubSocket subscriber = fixture.Context.CreateSub();
        subscriber.Subscribe("wanted");
        subscriber.Connect(publisher.Bind(endpoint));
        (await publisher.ReceiveAsync(Guard.Token).Guarded()).Dispose();
        publisher.Subscribe(""); // More than it asked for.
        for (int i = 0; i < Count; i++)
        {
            using MessageBuilder message = new MessageBuilder(fixture.Pool).Add("other"u8).Add("part"u8);
            publisher.Send(message);
            publisher.Send("wanted"u8);
        }

        for (int i = 0; i < Count; i++)
        {
            using Message message = await subscriber.ReceiveAsync(Guard.Token).Guarded();
            Assert.Equal("wanted"u8, message.Span);
        }

        AssertBalance(subscriber.GetStatistics(), 2 * Count, filtered: Count);
        Assert.Equal(publisher.GetStatistics().WrittenBytes, subscriber.GetStatistics().ReceivedBytes);
        Assert.Equal(2 * Count, Assert.Single(subscriber.GetPeers()).MessagesReceived);
    }

    [Theory]
    [MemberData(nameof(Transports))]
    public async Task Topics_count_as_messages_between_the_two_that_tell_each_other(string endpoint)
    {
        await using var fixture = new ContextFixture();
        XPubSocket publisher = fixture.Context.CreateXPub();
        string bound = publisher.Bind(endpoint);
        SubSocket early = fixture.Context.CreateSub();
        XSubSocket late = fixture.Context.CreateXSub();
        early.Subscribe("a");
        early.Subscribe("b");
        early.Connect(bound);
        late.Connect(bound);
        late.Send("\u0001a"u8);
        late.Send("\u0001b"u8);
        late.Send("data"u8);
        await fixture.UntilAsync(() => publisher.GetPeers() is { Count: 2 } peers && peers.Sum(static p => p.MessagesReceived) == 5);
        Assert.Equal([2, 3], publisher.GetPeers().Select(static p => p.MessagesReceived).Order());
        Assert.Equal(2, Assert.Single(early.GetPeers()).MessagesSent);
        Assert.Equal(3, Assert.Single(late.GetPeers()).MessagesSent);
        early.Unsubscribe("b");
        await fixture.UntilAsync(() => publisher.GetPeers().Sum(static p => p.MessagesReceived) == 6);
        Assert.Equal(3, early.GetStatistics().WrittenMessages);
    }

    [Theory]
    [MemberData(nameof(Transports))]
    public async Task Both_sides_count_the_same_bytes(string endpoint)
    {
        await using var fixture = new ContextFixture();
        PairSocket sender = fixture.Context.CreatePair();
        PairSocket receiver = fixture.Context.CreatePair();
        receiver.Connect(sender.Bind(endpoint));
        sender.Send("12345"u8);
        sender.Send(new byte[100_000]);
        using (MessageBuilder message = new MessageBuilder(fixture.Pool).Add("123"u8).Add([]).Add("4567"u8))
        {
            sender.Send(message);
        }

        for (int i = 0; i < 3; i++)
        {
            (await receiver.ReceiveAsync(Guard.Token).Guarded()).Dispose();
        }

        const long Bytes = 8 + 5 + 8 + 100_000 + (3 * 8) + 3 + 4;
        await fixture.UntilAsync(() => sender.GetStatistics().WrittenBytes == Bytes);
        Assert.Equal(Bytes, receiver.GetStatistics().ReceivedBytes);
    }

    [Fact]
    public async Task A_sender_sees_what_waits_for_a_peer_of_its_process_that_does_not_receive()
    {
        await using var fixture = new ContextFixture();
        PubSocket publisher = fixture.Context.CreatePub(new PubOptions { SendHighWaterMark = 4 });
        SubSocket subscriber = fixture.Context.CreateSub(new SubOptions { ReceiveHighWaterMark = 6 });
        subscriber.Subscribe("");
        subscriber.Connect(publisher.Bind("inproc://waits"));
        await fixture.UntilAsync(() => publisher.TopicCount == 1);
        for (int i = 0; i < 15; i++)
        {
            publisher.Send("12"u8);
        }

        PeerInfo peer = Assert.Single(publisher.GetPeers());
        Assert.Equal(new QueueDepth { Messages = 10, Bytes = 10 * (8 + 2) }, peer.Outbound);
        Assert.Equal((10, 5), (peer.MessagesSent, peer.MessagesDropped));
        Assert.Contains("to send 10 (100 bytes)", publisher.Describe(), StringComparison.Ordinal);
        Assert.True(Assert.Single(subscriber.GetPeers()).IsPaused);
        subscriber.Receive().Dispose();
        Assert.Equal(9, Assert.Single(publisher.GetPeers()).Outbound.Messages);
    }

    [Fact]
    public async Task Messages_for_an_inproc_name_that_was_never_bound_are_reported_with_their_bytes()
    {
        await using var fixture = new ContextFixture();
        DealerSocket dealer = fixture.Context.CreateDealer(new DealerOptions { Linger = TimeSpan.Zero });
        dealer.Connect("inproc://nobody");
        dealer.Send("1"u8);
        dealer.Send("23"u8);
        Assert.Equal(new QueueDepth { Messages = 2, Bytes = 8 + 1 + 8 + 2 }, Assert.Single(dealer.GetPeers()).Outbound);
        ShutdownReport report = await fixture.Context.ShutdownAsync(TimeSpan.Zero, Guard.Token).Guarded();
        Assert.Equal((2, 8 + 1 + 8 + 2), (report.UndeliveredMessages, report.UndeliveredBytes));
    }

    [Theory]
    [MemberData(nameof(Transports))]
    public async Task Drops_for_the_bytes_that_wait_have_a_cause_of_their_own(string endpoint)
    {
        await using var fixture = new ContextFixture(shutdownTimeout: TimeSpan.Zero);
        RouterSocket router = fixture.Context.CreateRouter(
            new RouterOptions { SendHighWaterMark = null, SendByteLimit = 1_000, SendBufferSize = 16 * 1024 });
        DealerSocket dealer = fixture.Context.CreateDealer(
            new DealerOptions
            {
                RoutingId = "peer"u8.ToArray(),
                ReceiveHighWaterMark = 1,
                ReceiveByteLimit = 1_000,
                ReceiveBufferSize = 16 * 1024
            });
        using EventReader monitor = router.ReadEvents(SocketEventTypes.MessagesDropped);
        string bound = router.Bind(endpoint);
        dealer.Connect(bound);
        await fixture.UntilAsync(() => router.TryGetPeer(RoutingId.FromText("peer"), out _));
        while (router.GetStatistics().DroppedAtByteLimit == 0)
        {
            router.To("peer"u8).Send(Wire.Huge);
        }

        SocketEvent told = await monitor.ReadAsync(Guard.Token).Guarded();
        Assert.Contains("at its byte limit", told.Detail, StringComparison.Ordinal);
        Assert.Equal((bound, Assert.Single(router.GetPeers()).RemoteAddress), (told.LocalAddress, told.RemoteAddress));
        Assert.Equal(0, router.GetStatistics().DroppedAtHighWaterMark);
        Assert.Contains("1 at a byte limit", router.Describe(), StringComparison.Ordinal);
        Assert.Equal(1, Assert.Single(router.GetPeers()).MessagesDropped);
    }

    private static void AssertBalance(SocketStatistics counters, long received, long filtered)
    {
        Assert.Equal((received, filtered), (counters.ReceivedMessages, counters.FilteredMessages));
        Assert.Equal(received, counters.DeliveredMessages + counters.DroppedUnreadMessages + counters.FilteredMessages
            + counters.UnreadMessages);
    }
}
