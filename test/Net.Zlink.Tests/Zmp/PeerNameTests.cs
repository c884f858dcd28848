using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>Names that a ROUTER gives to the peers that it connects to.</summary>
public sealed class PeerNameTests
{
    [Fact]
    public async Task A_ROUTER_looks_up_one_peer_by_the_id_it_sends_to()
    {
        await using var fixture = new ContextFixture();
        RouterSocket router = fixture.Context.CreateRouter();
        string endpoint = router.Bind("tcp://127.0.0.1:0");
        Assert.False(router.TryGetPeer(RoutingId.FromText("A"), out PeerInfo? peer));
        Assert.Null(peer);
        DealerSocket dealer = fixture.Context.CreateDealer(new DealerOptions { RoutingId = "A"u8.ToArray() });
        dealer.Connect(endpoint);
        dealer.Send("hello"u8);
        await fixture.UntilAsync(() => router.TryGetPeer(RoutingId.FromText("A"), out peer) && peer.Unread.Messages == 1);
        Assert.True(peer!.IsConnected);
        Assert.Equal(peer.RemoteAddress, Assert.Single(router.GetPeers()).RemoteAddress);
        Assert.False(router.TryGetPeer(RoutingId.FromText("B"), out _));
        Assert.False(router.TryGetPeer(default, out _));
        dealer.Dispose();
        await fixture.UntilAsync(() => !router.TryGetPeer(RoutingId.FromText("A"), out _));

        // One that was named here can be sent to before it is there.
        router.Connect(RawListener.NobodyListens(), RoutingId.FromText("C"));
        Assert.True(router.TryGetPeer(RoutingId.FromText("C"), out peer));
        Assert.False(peer.IsConnected);
    }

    [Theory]
    [InlineData(false, false)]
    [InlineData(false, true)]
    [InlineData(true, false)]
    [InlineData(true, true)]
    public async Task A_name_is_given_once_whether_its_endpoint_has_a_connection_or_not(bool immediate, bool connects)
    {
        await using var fixture = new ContextFixture();
        RouterSocket router = fixture.Context.CreateRouter(new RouterOptions { Immediate = immediate, Mandatory = true });
        string first = connects ? fixture.Context.CreateRouter().Bind("tcp://127.0.0.1:0") : RawListener.NobodyListens();
        router.Connect(first, RoutingId.FromText("name"));
        if (connects)
        {
            await fixture.UntilAsync(() => router.GetPeers() is [{ IsConnected: true }]);
        }

        string second = RawListener.NobodyListens();
        Assert.Equal(ZlinkError.AddressInUse,
            Assert.Throws<ZlinkException>(() => router.Connect(second, RoutingId.FromText("name"))).Error);
        router.Connect(second, RoutingId.FromText("other"));

        router.Disconnect(first);
        router.Connect(RawListener.NobodyListens(), RoutingId.FromText("name"));
    }

    [Fact]
    public async Task With_Immediate_the_id_of_a_peer_that_came_in_is_no_name_for_another()
    {
        await using var fixture = new ContextFixture();
        RouterSocket router = fixture.Context.CreateRouter(new RouterOptions { Immediate = true });
        DealerSocket dealer = fixture.Context.CreateDealer(new DealerOptions { RoutingId = "name"u8.ToArray() });
        dealer.Connect(router.Bind("tcp://127.0.0.1:0"));
        await fixture.UntilAsync(() => router.GetPeers() is [{ IsConnected: true }]);
        Assert.Equal(ZlinkError.AddressInUse,
            Assert.Throws<ZlinkException>(() => router.Connect(RawListener.NobodyListens(), RoutingId.FromText("name")))
            .Error);
    }
}
