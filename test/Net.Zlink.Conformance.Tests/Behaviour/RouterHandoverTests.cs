using Net.Zlink.Conformance.Tests.Behaviour.Fixtures;
using Net.Zlink.Monitoring;
using Net.Zlink.Porting;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Conformance.Tests.Behaviour;

/// <summary>As the native test_router_handover, and what becomes of the connection that loses, which no native test asks.</summary>
public sealed class RouterHandoverTests
{
    [Theory]
    [MemberData(nameof(Link.All), MemberType = typeof(Link))]
    public async Task With_handover_the_newcomer_gets_the_id_and_the_old_peer_hears_nothing_more(string transport)
    {
        await using var fixture = new StreamFixture();
        RouterSocket router = fixture.Context.CreateRouter(new RouterOptions { OnDuplicateRoutingId = DuplicateRoutingId.Replace });
        string endpoint = router.Bind(Link.Any(transport));
        DealerSocket first = await ConnectAsync(fixture, router, endpoint);
        DealerSocket second = fixture.Context.CreateDealer(new DealerOptions { RoutingId = SocketWords.Bytes("X") });
        second.Connect(endpoint);
        second.Say("Hello from the second");
        (byte[] id, string[] parts) = await router.HearFromAsync();
        Assert.Equal("X", SocketWords.Text(id));
        Assert.Equal(["Hello from the second"], parts);
        router.SayTo("X", "Hello");
        Assert.Equal("Hello", await second.HearOneAsync());
        first.HearsNothing();
    }

    [Theory]
    [MemberData(nameof(Link.Wires), MemberType = typeof(Link))]
    public async Task The_connection_that_lost_its_id_is_closed_and_does_not_come_back(string transport)
    {
        await using var fixture = new StreamFixture();
        RouterSocket router = fixture.Context.CreateRouter(new RouterOptions { OnDuplicateRoutingId = DuplicateRoutingId.Replace });
        string endpoint = router.Bind(Link.Any(transport));
        DealerSocket first = await ConnectAsync(fixture, router, endpoint);
        using EventReader monitor = first.ReadEvents(SocketEventTypes.Disconnected | SocketEventTypes.ConnectRetried);
        DealerSocket second = fixture.Context.CreateDealer(new DealerOptions { RoutingId = SocketWords.Bytes("X") });
        second.Connect(endpoint);
        second.Say("Hello from the second");
        await router.HearFromAsync();
        SocketEvent gone = await monitor.NextAsync();
        Assert.Equal((SocketEventTypes.Disconnected, 3L), (gone.Type, gone.ToNativeValue()));
        await fixture.UntilAsync(() => first.PeerCount == 0); // Its endpoint is given up: no fight over the id.
        monitor.IsSilent();
        Assert.False(first.TrySay("to nobody"));
        router.SayTo("X", "still the second's");
        Assert.Equal("still the second's", await second.HearOneAsync());

        // The text can be connected again by the application's own wish, and then the first takes the id back.
        first.Connect(endpoint);
        first.Say("Hello again");
        Assert.Equal(["Hello again"], (await router.HearFromAsync()).Parts);
    }

    [Theory]
    [MemberData(nameof(Link.All), MemberType = typeof(Link))]
    public async Task Without_handover_the_newcomer_is_not_heard_and_answers_go_to_the_first(string transport)
    {
        await using var fixture = new StreamFixture();
        RouterSocket router = fixture.Context.CreateRouter();
        string endpoint = router.Bind(Link.Any(transport));
        DealerSocket first = await ConnectAsync(fixture, router, endpoint);
        using EventReader monitor = router.ReadEvents(SocketEventTypes.ConnectionRefused);
        DealerSocket second = fixture.Context.CreateDealer(new DealerOptions { RoutingId = SocketWords.Bytes("X") });
        second.Options.Linger = TimeSpan.Zero;
        second.Connect(endpoint);
        second.TrySay("Hello from the second");
        await monitor.NextAsync();
        await fixture.SettleAsync();
        router.HearsNothing();
        router.SayTo("X", "Hello");
        Assert.Equal("Hello", await first.HearOneAsync());
        second.HearsNothing();
        second.Dispose();
    }

    [Theory]
    [MemberData(nameof(Link.Wires), MemberType = typeof(Link))]
    public async Task A_newcomer_that_was_turned_away_gets_in_when_the_id_is_free(string transport)
    {
        await using var fixture = new StreamFixture();
        RouterSocket router = fixture.Context.CreateRouter();
        string endpoint = router.Bind(Link.Any(transport));
        DealerSocket first = await ConnectAsync(fixture, router, endpoint);
        using EventReader monitor = router.ReadEvents(SocketEventTypes.ConnectionRefused | SocketEventTypes.ConnectionReady);
        DealerSocket second = fixture.Context.CreateDealer(
            new DealerOptions { RoutingId = SocketWords.Bytes("X"), ReconnectInterval = TimeSpan.FromMilliseconds(10) });
        second.Connect(endpoint);
        Assert.Equal(SocketEventTypes.ConnectionRefused, (await monitor.NextAsync()).Type);
        first.Dispose();
        await monitor.NextAsync(SocketEventTypes.ConnectionReady);
        second.Say("Hello from the second");
        Assert.Equal(["Hello from the second"], (await router.HearFromAsync()).Parts);
    }

    private static async Task<DealerSocket> ConnectAsync(StreamFixture fixture, RouterSocket router, string endpoint)
    {
        DealerSocket dealer = fixture.Context.CreateDealer(new DealerOptions { RoutingId = SocketWords.Bytes("X") });
        dealer.Connect(endpoint);
        dealer.Say("Hello from the first");
        Assert.Equal("X", SocketWords.Text((await router.HearFromAsync()).Id));
        router.SayTo("X", "Hello");
        Assert.Equal("Hello", await dealer.HearOneAsync());
        return dealer;
    }
}
