using System.Text;
using Net.Zlink.Monitoring;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>Messages that a socket drops instead of sending, by the rules of its type: it says so, and how many, without drowning who
/// listens.</summary>
public sealed class NotSentTests
{
    private const int Count = 1_000;

    [Fact]
    public async Task A_ROUTER_that_is_not_mandatory_tells_what_it_drops_for_a_full_peer_at_each_doubling()
    {
        await using var fixture = new ContextFixture();
        RouterSocket router = fixture.Context.CreateRouter(new RouterOptions { SendHighWaterMark = 1 });
        DealerSocket dealer = fixture.Context.CreateDealer(new DealerOptions { ReceiveHighWaterMark = 1, RoutingId = "slow"u8.ToArray() });
        using EventReader monitor = router.ReadEvents(SocketEventTypes.MessagesDropped);
        router.Bind("inproc://full");
        dealer.Connect("inproc://full");
        int accepted = 0;
        while (router.GetStatistics().DroppedAtHighWaterMark < Count)
        {
            Assert.True(router.To("slow"u8).TrySend("x"u8).Tell(out SendFailure error), error.ToString());
            accepted++;
        }

        Assert.Equal(2, accepted - Count); // The marks of both sides.
        await AssertToldAsync(monitor, "slow", "at its high-water mark");
        Assert.Equal(Count, Assert.Single(router.GetPeers()).MessagesDropped);
        Assert.Contains($"dropped {Count}", router.Describe(), StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_publisher_counts_for_each_subscriber_what_it_misses()
    {
        await using var fixture = new ContextFixture();
        PubSocket publisher = fixture.Context.CreatePub(new PubOptions { SendHighWaterMark = 1 });
        string endpoint = publisher.Bind("inproc://missed");
        SubSocket slow = fixture.Context.CreateSub(new SubOptions { ReceiveHighWaterMark = 1, RoutingId = "slow"u8.ToArray() });
        SubSocket quick = fixture.Context.CreateSub(new SubOptions { ReceiveHighWaterMark = null, RoutingId = "quick"u8.ToArray() });
        slow.Subscribe(""u8);
        quick.Subscribe(""u8);
        slow.Connect(endpoint);
        quick.Connect(endpoint);
        await fixture.UntilAsync(() => publisher.GetPeers().Count == 2 && publisher.GetPeers().All(static p => !p.RoutingId.IsEmpty));
        long sent = 0;
        while (publisher.GetStatistics().DroppedAtHighWaterMark < Count)
        {
            publisher.Send("x"u8);
            sent++;
            using Message message = await quick.ReceiveAsync(Guard.Token);
        }

        Dictionary<string, long> missed = publisher.GetPeers()
            .ToDictionary(static p => Encoding.UTF8.GetString(p.RoutingId.Span), static p => p.MessagesDropped, StringComparer.Ordinal);
        Assert.Equal((Count, 0), (missed["slow"], missed["quick"]));
        Assert.Equal(2, sent - Count); // The marks of both sides.
    }

    [Fact]
    public async Task A_ROUTER_that_is_not_mandatory_tells_what_it_drops_for_nobody()
    {
        await using var fixture = new ContextFixture();
        RouterSocket router = fixture.Context.CreateRouter();
        using EventReader monitor = router.ReadEvents(SocketEventTypes.MessagesDropped);
        for (int i = 0; i < Count; i++)
        {
            await router.To("nobody"u8.ToArray()).SendAsync("x"u8.ToArray(), Guard.Token);
        }

        Assert.Equal(Count, router.GetStatistics().DroppedUnroutable);
        await AssertToldAsync(monitor, "nobody", "no peer has that routing id");
    }

    [Fact]
    public async Task A_publisher_tells_what_it_drops_for_a_slow_subscriber()
    {
        await using var fixture = new ContextFixture();
        PubSocket publisher = fixture.Context.CreatePub(new PubOptions { SendHighWaterMark = 1 });
        SubSocket subscriber = fixture.Context.CreateSub(new SubOptions { ReceiveHighWaterMark = 1, RoutingId = "slow"u8.ToArray() });
        using EventReader monitor = publisher.ReadEvents(SocketEventTypes.MessagesDropped);
        publisher.Bind("inproc://slow");
        subscriber.Subscribe([]);
        subscriber.Connect("inproc://slow");
        while (publisher.GetStatistics().DroppedAtHighWaterMark < Count)
        {
            publisher.Send("x"u8);
        }

        await AssertToldAsync(monitor, "slow", "at its high-water mark");
    }

    [Fact]
    public async Task A_mandatory_ROUTER_says_whether_a_peer_is_full_or_gone()
    {
        await using var fixture = new ContextFixture();
        RouterSocket router = fixture.Context.CreateRouter(new RouterOptions { SendHighWaterMark = 1, Mandatory = true });
        DealerSocket dealer = fixture.Context.CreateDealer(new DealerOptions { ReceiveHighWaterMark = 1, RoutingId = "slow"u8.ToArray() });
        router.Bind("inproc://mandatory");
        dealer.Connect("inproc://mandatory");
        SendFailure error;
        while (router.To("slow"u8).TrySend("x"u8).Tell(out error))
        {
            Assert.Equal(SendFailure.None, error);
        }

        Assert.Equal(SendFailure.Full, error);
        using MessageBuilder builder = new MessageBuilder(fixture.Pool).Add("a"u8).Add("b"u8);
        Assert.False(router.To("slow"u8).TrySend(builder).Tell(out error));
        Assert.Equal((SendFailure.Full, 2), (error, builder.Count));
        Assert.False(router.To("nobody"u8).TrySend(builder).Tell(out error));
        Assert.Equal((SendFailure.NoPeer, 2), (error, builder.Count));
        using Message received = dealer.Receive();
        Assert.False(router.To("nobody"u8).TrySend(in received).Tell(out error));
        Assert.Equal((SendFailure.NoPeer, 1), (error, received.PartCount));
        Assert.False(router.To("nobody"u8).TrySend("x"u8).Tell(out error));
        Assert.Equal(SendFailure.NoPeer, error);
    }

    [Fact]
    public async Task A_SUB_that_has_subscribed_to_nothing_says_so()
    {
        await using var fixture = new ContextFixture();
        SubSocket subscriber = fixture.Context.CreateSub();
        Assert.Contains("no topic: it receives nothing", subscriber.Describe(), StringComparison.Ordinal);
        subscriber.Subscribe("a");
        subscriber.Subscribe("b");
        Assert.Contains(", topics: 2", subscriber.Describe(), StringComparison.Ordinal);
    }

    [Fact]
    public async Task Sockets_that_are_disposed_and_still_deliver_are_named_where_no_more_can_be_made()
    {
        await using var context = new ZlinkContext(new ZlinkContextOptions { MaxSockets = 2, ShutdownTimeout = TimeSpan.Zero });
        DealerSocket delivering = context.CreateDealer();
        delivering.Connect(RawListener.NobodyListens());
        delivering.Send("x"u8);
        delivering.Dispose();
        using DealerSocket other = context.CreateDealer();
        ZlinkException none = Assert.Throws<ZlinkException>(() => context.CreateDealer());
        Assert.Equal(ZlinkError.TooManySockets, none.Error);
        Assert.Contains("1 of them are disposed and still deliver", none.Message, StringComparison.Ordinal);
        Assert.Contains("Linger", none.Message, StringComparison.Ordinal);
    }

    /// <summary>1, 1, 2, 4 ... 256: 512 of the thousand, in ten events.</summary>
    private static async Task AssertToldAsync(EventReader monitor, string whom, string why)
    {
        int told = 0;
        while (told < 512)
        {
            SocketEvent dropped = await monitor.ReadAsync(Guard.Token).Guarded();
            Assert.Equal(Math.Max(1, told), dropped.Value);
            Assert.Equal(whom, Encoding.ASCII.GetString(dropped.PeerRoutingId.Span));
            Assert.Contains(why, dropped.Detail, StringComparison.Ordinal);
            told += (int)dropped.Value;
        }

        Assert.False(monitor.TryRead(out _));
    }
}
