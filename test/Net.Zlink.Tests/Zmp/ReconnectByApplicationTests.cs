using Net.Zlink.Monitoring;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>A socket whose application decides when it connects again.</summary>
public sealed class ReconnectByApplicationTests
{
    private static RoutingId Name { get; } = RoutingId.FromText("name");

    [Fact]
    public async Task With_an_infinite_interval_each_attempt_is_one_event_with_the_name_of_the_peer_and_the_application_makes_the_next_one()
    {
        await using var fixture = new ContextFixture();
        string endpoint = RawListener.NobodyListens();
        using RouterSocket router = fixture.Context.CreateRouter(ByApplication());
        using EventReader monitor = router.ReadEvents(SocketEventTypes.ConnectRetried | SocketEventTypes.ConnectionReady);
        router.Connect(endpoint, Name);
        SocketEvent failed = await monitor.ReadAsync(Guard.Token).Guarded();
        Assert.Equal((SocketEventTypes.ConnectRetried, "name"), (failed.Type, failed.PeerRoutingId.ToString()));

        using RouterSocket bound = fixture.Context.CreateRouter();
        bound.Bind(endpoint);
        router.Disconnect(endpoint);
        router.Connect(endpoint, Name);
        Assert.Equal(SocketEventTypes.ConnectionReady, (await monitor.ReadAsync(Guard.Token).Guarded()).Type);
        Assert.Equal(Timeout.InfiniteTimeSpan, router.Options.ReconnectInterval);
    }

    [Fact]
    public async Task What_a_lost_peer_has_sent_stays_readable_when_its_endpoint_is_disconnected_and_connected_again()
    {
        await using var fixture = new ContextFixture();
        using RouterSocket bound = fixture.Context.CreateRouter(new RouterOptions { Linger = TimeSpan.FromSeconds(5) });
        string endpoint = bound.Bind("tcp://127.0.0.1:*");
        using RouterSocket router = fixture.Context.CreateRouter(ByApplication());
        using EventReader monitor = router.ReadEvents(SocketEventTypes.ConnectRetried | SocketEventTypes.ConnectionReady);
        router.Connect(endpoint, Name);
        await monitor.ReadAsync(Guard.Token).Guarded();
        await router.To(Name).SendAsync("hello"u8.ToArray(), Guard.Token).Guarded();
        using (Message hello = await bound.ReceiveAsync(Guard.Token).Guarded())
        {
            Assert.True(bound.To(hello).TrySend("unread"u8));
        }

        await fixture.UntilAsync(() => router.GetStatistics().UnreadMessages == 1);
        bound.Dispose();
        await monitor.ReadAsync(Guard.Token).Guarded();
        router.Disconnect(endpoint);
        router.Connect(endpoint, Name);

        using Message unread = await router.ReceiveAsync(Guard.Token).Guarded();
        Assert.Equal("unread", unread.GetString());
    }

    [Fact]
    public async Task A_peer_that_announces_the_name_of_another_one_and_fails_is_reported_by_its_own_name()
    {
        await using var fixture = new ContextFixture();
        using RawListener listener = fixture.Listen();
        using RouterSocket router = fixture.Context.CreateRouter(ByApplication());
        using EventReader monitor = router.ReadEvents(SocketEventTypes.Disconnected | SocketEventTypes.HandshakeFailedProtocol
            | SocketEventTypes.HandshakeFailedNoDetail | SocketEventTypes.ConnectRetried);
        router.Connect(listener.Endpoint, Name);
        using (RawPeer peer = await listener.AcceptAsync())
        {
            // HELLO of a ROUTER with the routing id "other", and then no READY.
            await peer.SendAsync((byte[])[0x5A, 1, 2, 0, 0, 0, 0, 8, 1, 6, 5, .. "other"u8]);
        }

        for (SocketEvent one = await monitor.ReadAsync(Guard.Token).Guarded(); ; one = await monitor.ReadAsync(Guard.Token).Guarded())
        {
            Assert.Equal("name", one.PeerRoutingId.ToString());
            if (one.Type == SocketEventTypes.ConnectRetried)
            {
                return;
            }
        }
    }

    private static RouterOptions ByApplication() => new()
    {
        ReconnectInterval = Timeout.InfiniteTimeSpan,
        Immediate = true,
        Mandatory = true,
        Linger = TimeSpan.Zero,
    };
}
