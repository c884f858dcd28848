using Net.Zlink.Conformance.Tests.Behaviour.Fixtures;
using Net.Zlink.Monitoring;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Conformance.Tests.Behaviour;

/// <summary>As the native test_issue_566: dealers of another context come and go, and the router reaches each.</summary>
public sealed class Issue566Tests
{
    [Fact]
    public async Task A_hundred_short_lived_dealers_are_each_reached()
    {
        await using var fixture = new StreamFixture();
        await using var others = new StreamFixture();
        RouterSocket router = fixture.Context.CreateRouter(new RouterOptions { Mandatory = true });
        using EventReader monitor = router.ReadEvents(SocketEventTypes.ConnectionReady);
        string endpoint = router.Bind(Link.Any(Link.Tcp));
        for (int round = 0; round < 100; round++)
        {
            string id = $"identity{round:00}";
            using DealerSocket dealer = others.Context.CreateDealer(new DealerOptions { RoutingId = SocketWords.Bytes(id) });
            dealer.Connect(endpoint);
            if (!router.To(SocketWords.Bytes(id)).TrySend("HELLO"u8))
            {
                // Unreachable means not yet: the event says when.
                SocketEvent ready = await monitor.NextAsync();
                Assert.Equal(id, SocketWords.Text(ready.RoutingId.Span));
                router.SayTo(id, "HELLO");
            }
            else
            {
                await monitor.NextAsync();
            }

            Assert.Equal("HELLO", await dealer.HearOneAsync());
        }
    }
}
