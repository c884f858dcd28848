using System.Text;
using Net.Zlink.Monitoring;
using Net.Zlink.Porting;
using Net.Zlink.Sockets.Links;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>A socket throws out a peer that came in.</summary>
public sealed class DisconnectPeerTests
{
    [Theory]
    [InlineData("tcp://127.0.0.1:0", true)]
    [InlineData("ws://127.0.0.1:0", true)]
    [InlineData("inproc://throw-out", false)]
    public async Task Disconnect_ends_the_sender_of_a_message_writes_what_was_sent_to_it_drops_what_it_sent_and_spares_others(
        string endpoint, bool comesAgain)
    {
        await using var fixture = new ContextFixture();
        RouterSocket router = fixture.Context.CreateRouter();
        string bound = router.Bind(endpoint);
        using EventReader monitor = router.ReadEvents(SocketEventTypes.Disconnected);
        DealerSocket bad = await JoinAsync(fixture, router, bound, "bad");
        DealerSocket good = await JoinAsync(fixture, router, bound, "good");
        await bad.SendAsync("first"u8.ToArray(), Guard.Token);
        using Message first = await router.ReceiveAsync(Guard.Token).Guarded();
        await bad.SendAsync("never received"u8.ToArray(), Guard.Token);
        PeerInfo? connection = null;
        await fixture.UntilAsync(() => router.TryGetPeer(RoutingId.FromText("bad"), out connection) && connection.Unread.Messages == 1);
        router.To("bad"u8).Send("farewell"u8);

        Assert.True(router.Disconnect(first));
        // Where the processors are busy it may have come again by now.
        Assert.False(router.TryGetPeer(first.RoutingId, out PeerInfo? next) && next.ConnectedAt == connection!.ConnectedAt);
        Assert.False(router.Disconnect(first));
        using Message errorResponse = await bad.ReceiveAsync(Guard.Token).Guarded();
        Assert.Equal("farewell"u8, errorResponse.Span);
        await good.SendAsync("I stay"u8.ToArray(), Guard.Token);
        using Message stays = await router.ReceiveAsync(Guard.Token).Guarded();
        Assert.Equal("I stay"u8, stays.Span);
        if (comesAgain)
        {
            // What it sends while it has not seen the end yet is lost with the connection.
            await fixture.UntilAsync(() => router.TryGetPeer(RoutingId.FromText("bad"), out _));
            await bad.SendAsync("again"u8.ToArray(), Guard.Token);
            using Message again = await router.ReceiveAsync(Guard.Token).Guarded();
            Assert.Equal("again"u8, again.Span);
            Assert.False(router.Disconnect(first)); // That one had been another connection's.
            Assert.True(router.Disconnect(again));
        }
        else
        {
            await fixture.UntilAsync(() => bad.PeerCount == 0);
        }

        Assert.False(monitor.TryRead(out _));
    }

    [Fact]
    public async Task A_publisher_throws_out_a_subscriber_which_comes_again_with_its_topics()
    {
        await using var fixture = new ContextFixture();
        PubSocket publisher = fixture.Context.CreatePub();
        SubSocket subscriber = fixture.Context.CreateSub(new SubOptions { ReconnectInterval = TimeSpan.FromMilliseconds(10) });
        subscriber.Subscribe("a");
        using EventReader monitor = subscriber.ReadEvents(SocketEventTypes.Disconnected);
        subscriber.Connect(publisher.Bind("tcp://127.0.0.1:0"));
        await fixture.UntilAsync(() => publisher.TopicCount == 1);
        PeerInfo peer = Assert.Single(publisher.GetPeers());
        Assert.True(publisher.Disconnect(peer));
        Assert.Equal(4, (await monitor.ReadAsync(Guard.Token).Guarded()).ToNativeValue()); // A loss, as far as it can see.
        await fixture.UntilAsync(() => publisher.TopicCount == 1);
        Assert.False(publisher.Disconnect(peer));
        publisher.Send("abc"u8);
        using Message message = await subscriber.ReceiveAsync(Guard.Token).Guarded();
        Assert.Equal("abc"u8, message.Span);
    }

    [Theory]
    [InlineData("tcp://127.0.0.1:0")]
    [InlineData("inproc://notices")]
    public async Task An_XPUB_throws_out_whose_notice_it_was(string endpoint)
    {
        await using var fixture = new ContextFixture();
        XPubSocket publisher = fixture.Context.CreateXPub();
        SubSocket subscriber = fixture.Context.CreateSub(new SubOptions { ReconnectInterval = TimeSpan.FromHours(1) });
        subscriber.Connect(publisher.Bind(endpoint));
        subscriber.Subscribe("a");
        using Message notice = await publisher.ReceiveAsync(Guard.Token).Guarded();
        Assert.True(publisher.Disconnect(notice));
        using Message loss = await publisher.ReceiveAsync(Guard.Token).Guarded();
        Assert.Equal("\0a", Encoding.ASCII.GetString(loss.Span));
        Assert.False(publisher.Disconnect(loss));
        Assert.Equal(0, publisher.TopicCount);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Disconnect_ends_a_peer_that_does_not_read_within_the_close_timeout_or_at_once(bool abort)
    {
        var clock = new ManualTimeProvider();
        await using var fixture = new ContextFixture(time: clock);
        RouterSocket router = fixture.Context.CreateRouter(new RouterOptions { SendBufferSize = 64 * 1024 });
        RawPeer deaf = await fixture.ConnectAsync(router.Bind("tcp://127.0.0.1:0"), receiveBuffer: 64 * 1024);
        await deaf.SendAsync(Protocol.Zmp.ZmpFixture.DealerGreeting("deaf"u8));
        await fixture.UntilAsync(() => router.TryGetPeer(RoutingId.FromText("deaf"), out _));
        for (int i = 0; i < 32; i++) // 32 MiB, more than the two systems take.
        {
            await router.To("deaf"u8.ToArray()).SendAsync(new byte[1024 * 1024], Guard.Token);
        }

        Assert.True(router.TryGetPeer(RoutingId.FromText("deaf"), out PeerInfo? peer));
        Assert.True(router.Disconnect(peer, abort));
        Assert.False(router.Disconnect(peer, abort: true));
        if (!abort)
        {
            await fixture.SettleAsync();
            clock.Advance(router.Options.CloseTimeout); // For what waits,
            await fixture.SettleAsync();
            clock.Advance(router.Options.CloseTimeout); // and for the end.
        }

        await fixture.UntilAsync(() => fixture.Context.GetStatistics().Shards.Sum(static shard => shard.Connections) == 0);
        await fixture.UntilAsync(() => router.GetStatistics().DroppedMessages > 0);
    }

    [Fact]
    public async Task Disconnect_with_abort_leaves_an_inproc_peer_what_was_sent_to_it()
    {
        await using var fixture = new ContextFixture();
        PairSocket here = fixture.Context.CreatePair();
        PairSocket there = fixture.Context.CreatePair();
        here.Bind("inproc://aborted");
        there.Connect("inproc://aborted");
        here.Send("farewell"u8);
        Assert.True(here.Disconnect(Assert.Single(here.GetPeers()), abort: true));
        using Message message = await there.ReceiveAsync(Guard.Token).Guarded();
        Assert.Equal("farewell"u8, message.Span);
        Assert.Empty(here.GetPeers());
    }

    [Fact]
    public async Task Disconnect_refuses_connected_endpoints_peers_of_other_sockets_and_null()
    {
        await using var fixture = new ContextFixture();
        RouterSocket router = fixture.Context.CreateRouter();
        string tcp = router.Bind("tcp://127.0.0.1:0");
        router.Bind("inproc://here");
        foreach (string endpoint in new[] { tcp, "inproc://here" })
        {
            DealerSocket dealer = await JoinAsync(fixture, router, endpoint, endpoint);
            PeerInfo peer = Assert.Single(dealer.GetPeers());
            Assert.Contains($"Disconnect(\"{endpoint}\")", Assert.Throws<ArgumentException>(() => dealer.Disconnect(peer)).Message,
                StringComparison.Ordinal);
            Assert.Contains("another socket", Assert.Throws<ArgumentException>(() => router.Disconnect(peer)).Message,
                StringComparison.Ordinal);
            dealer.Dispose();
            Assert.Throws<ObjectDisposedException>(() => dealer.Disconnect(peer));
        }

        Assert.Throws<ArgumentNullException>(() => router.Disconnect((PeerInfo)null!));
        Assert.Throws<ArgumentException>(() => router.Disconnect(default(Message)));
    }

    [Fact]
    public async Task Peers_that_are_thrown_out_as_fast_as_they_come_leave_nothing_behind_and_in_the_end_all_are_there()
    {
        const int Peers = 8;
        await using var fixture = new ContextFixture();
        RouterSocket router = fixture.Context.CreateRouter();
        string tcp = router.Bind("tcp://127.0.0.1:0");
        var dealers = new DealerSocket[Peers];
        for (int i = 0; i < Peers; i++)
        {
            dealers[i] = fixture.Context.CreateDealer(
                new DealerOptions { ReconnectInterval = TimeSpan.FromMilliseconds(1), RoutingId = new[] { (byte)(i + 1) } });
            dealers[i].Connect(tcp);
        }

        int thrownOut = 0;
        await fixture.UntilAsync(() =>
        {
            thrownOut += router.GetPeers().Count(one => router.Disconnect(one));
            return thrownOut >= 20 * Peers;
        });
        await fixture.UntilAsync(() => router.GetPeers().Count(static peer => peer.IsConnected) == Peers);
        foreach (DealerSocket dealer in dealers)
        {
            await dealer.SendAsync("here"u8.ToArray(), Guard.Token);
            using Message message = await router.ReceiveAsync(Guard.Token).Guarded();
            Assert.Equal("here"u8, message.Span);
        }
    }

    [Fact]
    public async Task Disconnect_finds_a_messages_sender_without_a_copy_of_all_peers_and_no_message_keeps_a_gone_peer_alive()
    {
        const int Peers = 2_000;
        await using var fixture = new ContextFixture();
        DealerSocket here = fixture.Context.CreateDealer();
        DealerSocket there = fixture.Context.CreateDealer();
        here.Bind("inproc://many");
        for (int i = 0; i < Peers; i++)
        {
            there.Connect("inproc://many");
        }

        for (int i = 0; i < Peers; i++)
        {
            await there.SendAsync("x"u8.ToArray(), Guard.Token); // One of each.
        }

        using Message first = await here.ReceiveAsync(Guard.Token).Guarded();
        using Message second = await here.ReceiveAsync(Guard.Token).Guarded();
        Assert.False(there.Disconnect(second)); // It is not a peer of that one, and stays.
        Assert.True(here.Disconnect(first));
        Assert.Equal(Peers - 1, here.PeerCount);

        // A list of all has 16,000 bytes.
        Assert.InRange(Allocations.Of(() => Assert.False(here.Disconnect(first)), rounds: 10), 0, 10 * 100);
        Assert.Null(Assert.IsType<PeerIdentity>(first.Sender).Slot.Link);
        Assert.True(here.Disconnect(second));
    }

    private static async Task<DealerSocket> JoinAsync(ContextFixture fixture, RouterSocket router, string endpoint, string name)
    {
        DealerSocket dealer = fixture.Context.CreateDealer(
            new DealerOptions { RoutingId = Encoding.ASCII.GetBytes(name), ReconnectInterval = TimeSpan.FromMilliseconds(10) });
        dealer.Connect(endpoint);
        await fixture.UntilAsync(() => router.TryGetPeer(Encoding.ASCII.GetBytes(name), out _));
        return dealer;
    }
}
