using Net.Zlink.Conformance.Tests.Behaviour.Fixtures;
using Net.Zlink.Monitoring;
using Net.Zlink.Porting;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Conformance.Tests.Behaviour;

/// <summary>As the native test_heartbeats, by the fake clock; and the heartbeat timeout, which never fires natively.</summary>
public sealed class HeartbeatsTests
{
    [Fact]
    public async Task A_client_that_says_nothing_is_disconnected_after_the_handshake_interval()
    {
        var time = new ManualTimeProvider();
        await using var fixture = new StreamFixture(time: time);
        RouterSocket router = fixture.Context.CreateRouter(new RouterOptions { HandshakeInterval = TimeSpan.FromMilliseconds(100) });
        string endpoint = router.Bind(Link.Any(Link.Tcp));
        using EventReader monitor = router.ReadEvents(SocketEventTypes.Accepted | SocketEventTypes.Disconnected);
        RawPeer client = await fixture.ConnectAsync(endpoint);
        Assert.Equal(SocketEventTypes.Accepted, (await monitor.NextAsync()).Type);
        await client.ReadControlAsync(RawZmp.Ready); // The connection is up, and its timer set.
        await fixture.Context.WhenIdleAsync().Guarded();
        time.Advance(TimeSpan.FromMilliseconds(99));
        await fixture.SettleAsync();
        monitor.IsSilent();
        time.Advance(TimeSpan.FromMilliseconds(1));
        SocketEvent gone = await monitor.NextAsync();
        Assert.Equal((SocketEventTypes.Disconnected, 3L), (gone.Type, gone.ToNativeValue()));
        byte[] error = await client.ReadControlAsync(RawZmp.Error);
        Assert.Equal(0x06, error[1]);
        client.Dispose();
        await fixture.SettleAsync();
        monitor.IsSilent();
    }

    [Fact]
    public async Task A_peer_that_does_not_react_to_a_heartbeat_is_disconnected_after_the_timeout()
    {
        var time = new ManualTimeProvider();
        await using var fixture = new StreamFixture(time: time);
        DealerSocket dealer = fixture.Context.CreateDealer(new DealerOptions
        {
            HeartbeatInterval = TimeSpan.FromSeconds(1),
            HeartbeatTimeout = TimeSpan.FromSeconds(3),
            HandshakeInterval = TimeSpan.Zero,
        });
        string endpoint = dealer.Bind(Link.Any(Link.Tcp));
        using EventReader monitor = dealer.ReadEvents(SocketEventTypes.ConnectionReady | SocketEventTypes.Disconnected);
        RawPeer client = await fixture.ConnectAsync(endpoint);
        await client.SendAsync(RawZmp.Greeting(RawZmp.Dealer, "raw"));
        Assert.Equal(SocketEventTypes.ConnectionReady, (await monitor.NextAsync()).Type);
        await fixture.Context.WhenIdleAsync().Guarded();
        time.Advance(TimeSpan.FromSeconds(1));
        await client.ReadControlAsync(0x02);
        time.Advance(TimeSpan.FromMilliseconds(2999));
        await fixture.SettleAsync();
        monitor.IsSilent();
        time.Advance(TimeSpan.FromMilliseconds(1));
        SocketEvent gone = await monitor.NextAsync();
        Assert.Equal((SocketEventTypes.Disconnected, 4L), (gone.Type, gone.ToNativeValue()));
    }
}
