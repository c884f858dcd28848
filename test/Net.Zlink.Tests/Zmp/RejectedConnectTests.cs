using Net.Zlink.Monitoring;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Tests.Protocol.Zmp;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>A ROUTER whose connect was turned away right behind the handshake does not keep the id that it learnt there from that very peer
/// when it comes in, and from nobody else.</summary>
public sealed class RejectedConnectTests
{
    private static readonly byte[] Greeting = ZmpFixture.Greeting((byte)ZmpSocketType.Router, "B"u8);

    [Fact]
    public async Task Messages_for_the_id_of_a_rejected_connect_go_to_the_peer_that_came_in()
    {
        await using var fixture = new ContextFixture();
        RouterSocket router = Make(fixture, out string endpoint);
        RawListener listener = fixture.Listen();
        await TurnAwayAsync(fixture, router, listener);
        Assert.True(router.To("B"u8).TrySend("for whoever comes there"u8));
        RawPeer newcomer = await ComeInAsync(fixture, router, endpoint);
        Assert.True(router.To("B"u8).TrySend("x"u8));
        byte[] expected = [.. ZmpFixture.Frame(0, "for whoever comes there"u8), .. ZmpFixture.Frame(0, "x"u8)];
        Assert.Equal(expected, await newcomer.ReadAsync(expected.Length));
    }

    [Fact]
    public async Task The_endpoint_is_not_given_up_for_that_but_rests()
    {
        await using var fixture = new ContextFixture();
        RouterSocket router = Make(fixture, out string endpoint);
        RawListener listener = fixture.Listen();
        await TurnAwayAsync(fixture, router, listener);
        await ComeInAsync(fixture, router, endpoint);
        Assert.Equal([listener.Endpoint], router.ConnectedEndpoints);
        await fixture.UntilAsync(() => router.Describe().Contains("it is dialled again when that peer has disconnected",
            StringComparison.Ordinal));
        Assert.Equal(2, router.GetPeers().Count);
        Assert.False(listener.HasPending);
    }

    [Fact]
    public async Task A_second_connect_does_not_get_the_routing_id_of_a_rejected_connect()
    {
        await using var fixture = new ContextFixture();
        RouterSocket router = Make(fixture, out _);
        await TurnAwayAsync(fixture, router, fixture.Listen());
        using EventReader monitor = router.ReadEvents(SocketEventTypes.ConnectionRefused);
        RawListener other = fixture.Listen();
        router.Connect(other.Endpoint);
        using RawPeer peer = await other.AcceptAsync();
        await peer.SendAsync(Greeting);
        Assert.Equal(other.Endpoint, (await monitor.ReadAsync(Guard.Token).Guarded()).RemoteAddress);
    }

    [Fact]
    public async Task A_name_that_was_given_beforehand_stays_its_endpoints()
    {
        await using var fixture = new ContextFixture();
        RouterSocket router = Make(fixture, out string endpoint);
        await TurnAwayAsync(fixture, router, fixture.Listen(), name: "B"u8.ToArray());
        await AssertRefusedAsync(fixture, endpoint);
    }

    [Fact]
    public async Task A_rejected_connect_that_is_connected_again_keeps_its_routing_id()
    {
        await using var fixture = new ContextFixture();
        RouterSocket router = Make(fixture, out string endpoint, reconnectInterval: TimeSpan.FromMilliseconds(1));
        RawListener listener = fixture.Listen();
        await TurnAwayAsync(fixture, router, listener);
        using RawPeer again = await listener.AcceptAsync();
        await again.SendAsync(Greeting);
        await fixture.UntilAsync(() => router.GetPeers() is [{ IsConnected: true }]);
        await AssertRefusedAsync(fixture, endpoint);
    }

    [Fact]
    public async Task A_connect_that_was_lost_for_another_reason_than_rejection_keeps_its_routing_id()
    {
        await using var fixture = new ContextFixture();
        RouterSocket router = Make(fixture, out string endpoint);
        // An ERROR after which the endpoint is tried again.
        await TurnAwayAsync(fixture, router, fixture.Listen(), lastWords: ZmpFixture.Control("05 7F 00"));
        await AssertRefusedAsync(fixture, endpoint);
    }

    [Fact]
    public async Task A_rejected_connect_whose_earlier_connection_had_lasted_keeps_its_routing_id()
    {
        var clock = new ManualTimeProvider();
        await using var fixture = new ContextFixture(time: clock);
        RouterSocket router = Make(fixture, out string endpoint, reconnectInterval: TimeSpan.FromMilliseconds(1));
        RawListener listener = fixture.Listen();
        router.Connect(listener.Endpoint);
        using (RawPeer first = await listener.AcceptAsync())
        {
            await first.SendAsync(Greeting);
            await fixture.UntilAsync(() => router.GetPeers() is [{ IsConnected: true }]);
            clock.Advance(TimeSpan.FromSeconds(2));
            first.EndSending();
            await first.ReadToAnyEndAsync();
        }

        using EventReader monitor = router.ReadEvents(SocketEventTypes.Disconnected);
        await fixture.UntilAsync(() =>
        {
            clock.Advance(TimeSpan.FromMilliseconds(1));
            return listener.HasPending;
        });
        using (RawPeer second = await listener.AcceptAsync())
        {
            await second.SendAsync(Greeting);
            second.EndSending();
            await monitor.ReadAsync(Guard.Token).Guarded();
        }

        await fixture.UntilAsync(() => router.GetPeers() is [{ IsConnected: false }] && router.TryGetPeer(RoutingId.FromText("B"), out _));
        await AssertRefusedAsync(fixture, endpoint);
    }

    private static RouterSocket Make(ContextFixture fixture, out string endpoint, TimeSpan? reconnectInterval = null)
    {
        RouterSocket router = fixture.Context.CreateRouter(new RouterOptions
        {
            RoutingId = "A"u8.ToArray(),
            Mandatory = true,
            Linger = TimeSpan.Zero,
            ReconnectInterval = reconnectInterval ?? TimeSpan.FromHours(1),
        });
        endpoint = router.Bind("tcp://127.0.0.1:0");
        return router;
    }

    private static async Task TurnAwayAsync(ContextFixture fixture, RouterSocket router, RawListener listener, byte[]? name = null,
        byte[]? lastWords = null)
    {
        using EventReader monitor = router.ReadEvents(SocketEventTypes.Disconnected);
        if (name is null)
        {
            router.Connect(listener.Endpoint);
        }
        else
        {
            router.Connect(listener.Endpoint, name);
        }

        using (RawPeer peer = await listener.AcceptAsync())
        {
            await peer.SendAsync((byte[])[.. Greeting, .. lastWords ?? []]);
            peer.EndSending();
            await monitor.ReadAsync(Guard.Token).Guarded();
        }

        await fixture.UntilAsync(() => router.GetPeers() is [{ IsConnected: false }] && router.TryGetPeer(RoutingId.FromText("B"), out _));
    }

    private static async Task<RawPeer> ComeInAsync(ContextFixture fixture, RouterSocket router, string endpoint)
    {
        RawPeer newcomer = await fixture.ConnectAsync(endpoint);
        await newcomer.SendAsync(Greeting);
        await newcomer.ReadAsync(ZmpFixture.Greeting((byte)ZmpSocketType.Router, "A"u8).Length);
        await fixture.UntilAsync(() => router.TryGetPeer(RoutingId.FromText("B"), out PeerInfo? peer) && peer.IsConnected);
        return newcomer;
    }

    private static async Task AssertRefusedAsync(ContextFixture fixture, string endpoint)
    {
        RawPeer newcomer = await fixture.ConnectAsync(endpoint);
        await newcomer.SendAsync(Greeting);
        await newcomer.ReadToAnyEndAsync();
    }
}
