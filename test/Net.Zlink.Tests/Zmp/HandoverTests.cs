using Net.Zlink.Monitoring;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Tests.Protocol.Zmp;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>A ROUTER with Handover whose own connect loses its peer's routing id to another connection.</summary>
public sealed class HandoverTests
{
    [Fact]
    public async Task A_connect_whose_id_was_taken_over_is_made_again_when_the_other_one_has_gone()
    {
        await using var fixture = new ContextFixture();
        RouterSocket router = Router(fixture, out string bound);
        DealerSocket far = fixture.Context.CreateDealer(new DealerOptions { RoutingId = "B"u8.ToArray() });
        using EventReader monitor = router.ReadEvents(SocketEventTypes.ConnectGivenUp | SocketEventTypes.ConnectRetried);
        router.Connect(far.Bind("tcp://127.0.0.1:0"));
        await UntilHeardAsync(fixture, router, far, "first");

        DealerSocket near = fixture.Context.CreateDealer(new DealerOptions { RoutingId = "B"u8.ToArray(), Linger = TimeSpan.Zero });
        near.Connect(bound);
        await UntilHeardAsync(fixture, router, near, "second");
        await fixture.UntilAsync(() => far.GetPeers().Count == 0);
        await fixture.UntilAsync(() => router.Describe().Contains("it is dialled again when that peer has disconnected",
            StringComparison.Ordinal));

        await near.DisposeAsync();
        Assert.Equal(SocketEventTypes.ConnectRetried, (await monitor.ReadAsync(Guard.Token).Guarded()).Type);
        await UntilHeardAsync(fixture, router, far, "third");
    }

    [Fact]
    public async Task A_connect_under_a_name_whose_peer_never_answered_rests_too_and_waits_for_nobody_when_it_is_disconnected()
    {
        await using var fixture = new ContextFixture();
        RouterSocket router = Router(fixture, out string bound);
        RawListener listener = fixture.Listen();
        router.Connect(listener.Endpoint, RoutingId.FromText("B"));
        using RawPeer silent = await listener.AcceptAsync();
        router.To("B"u8).Send("for the silent one"u8);
        using (RawPeer near = await fixture.ConnectAsync(bound))
        {
            await near.SendAsync(ZmpFixture.DealerGreeting("B"u8));
            await silent.ReadToAnyEndAsync();
            await fixture.UntilAsync(() => router.TryGetPeer(RoutingId.FromText("B"), out PeerInfo? peer) && peer.IsConnected);
        }

        using RawPeer again = await listener.AcceptAsync();
        await again.SendAsync(ZmpFixture.DealerGreeting("X"u8));
        await fixture.UntilAsync(() => router.TryGetPeer(RoutingId.FromText("B"), out PeerInfo? peer) && peer.IsConnected);
        using RawPeer other = await fixture.ConnectAsync(bound);
        await other.SendAsync(ZmpFixture.DealerGreeting("B"u8));
        await fixture.UntilAsync(() => router.GetStatistics().DroppedMessages == 1);
        router.Disconnect(listener.Endpoint);
        Assert.Empty(router.ConnectedEndpoints);
    }

    [Fact]
    public async Task Two_that_took_each_others_id_over_at_the_same_moment_dial_again()
    {
        await using var fixture = new ContextFixture();
        RouterSocket router = Router(fixture, out string bound);
        RawListener listener = fixture.Listen();
        router.Connect(listener.Endpoint);
        using RawPeer dialled = await listener.AcceptAsync();
        RawPeer accepted = await fixture.ConnectAsync(bound);
        await accepted.SendAsync(ZmpFixture.Greeting((byte)ZmpSocketType.Router, "B"u8));
        await fixture.UntilAsync(() => router.TryGetPeer(RoutingId.FromText("B"), out _));
        await dialled.SendAsync(ZmpFixture.Greeting((byte)ZmpSocketType.Router, "B"u8));
        await accepted.ReadToEndAsync(); // Its id was taken over by the other connection; over there the same happened the other way round.
        await dialled.SendAsync(ZmpFixture.Control("05 10 15 726f7574696e672069642074616b656e206f766572"));
        using RawPeer again = await listener.AcceptAsync();
        Assert.Equal([listener.Endpoint], router.ConnectedEndpoints);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_ROUTER_connect_whose_routing_id_a_third_took_over_does_not_take_it_back(bool reconnectAfterFault)
    {
        await using var fixture = new ContextFixture();
        RouterSocket router = Router(fixture, out _);
        router.Options.ReconnectAfterFault = reconnectAfterFault;
        RawListener listener = fixture.Listen();
        using EventReader monitor = router.ReadEvents(SocketEventTypes.ConnectGivenUp);
        router.Connect(listener.Endpoint);
        using RawPeer dialled = await listener.AcceptAsync();
        await dialled.SendAsync(ZmpFixture.Greeting((byte)ZmpSocketType.Router, "B"u8));
        await dialled.SendAsync(ZmpFixture.Control("05 10 15 726f7574696e672069642074616b656e206f766572"));
        Assert.Contains("routing id taken over", (await monitor.ReadAsync(Guard.Token).Guarded()).Detail, StringComparison.Ordinal);
    }

    private static RouterSocket Router(ContextFixture fixture, out string bound)
    {
        RouterSocket router = fixture.Context.CreateRouter(new RouterOptions
        {
            RoutingId = "A"u8.ToArray(),
            OnDuplicateRoutingId = DuplicateRoutingId.Replace,
            ReconnectInterval = TimeSpan.FromMilliseconds(1),
            Linger = TimeSpan.Zero,
        });
        bound = router.Bind("tcp://127.0.0.1:0");
        return router;
    }

    private static async Task UntilHeardAsync(ContextFixture fixture, RouterSocket router, DealerSocket peer, string text)
    {
        string? heard = null;
        await fixture.UntilAsync(() =>
        {
            router.To("B"u8).TrySend(System.Text.Encoding.ASCII.GetBytes(text));
            if (peer.TryReceive(out Message message))
            {
                heard = message.GetString();
            }

            message.Dispose();
            return string.Equals(heard, text, StringComparison.Ordinal);
        });
    }
}
