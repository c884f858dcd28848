using Net.Zlink.Conformance.Tests.Behaviour.Fixtures;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Conformance.Tests.Behaviour;

/// <summary>As the native test_router_multiple_dealers.</summary>
public sealed class RouterMultipleDealersTests
{
    [Theory]
    [MemberData(nameof(Link.All), MemberType = typeof(Link))]
    public async Task Each_dealer_gets_the_answer_to_its_own_id(string transport)
    {
        await using var fixture = new StreamFixture();
        RouterSocket router = fixture.Context.CreateRouter();
        string endpoint = router.Bind(Link.Any(transport));
        DealerSocket first = fixture.Context.CreateDealer(new DealerOptions { RoutingId = SocketWords.Bytes("D1") });
        DealerSocket second = fixture.Context.CreateDealer(new DealerOptions { RoutingId = SocketWords.Bytes("D2") });
        first.Connect(endpoint);
        second.Connect(endpoint);
        first.Say("from_d1");
        second.Say("from_d2");
        for (int i = 0; i < 2; i++)
        {
            (byte[] id, string[] parts) = await router.HearFromAsync();
            Assert.Equal([$"from_{SocketWords.Text(id).ToLowerInvariant()}"], parts);
            router.SayTo(id, $"to {SocketWords.Text(id)}");
        }

        Assert.Equal("to D1", await first.HearOneAsync());
        Assert.Equal("to D2", await second.HearOneAsync());
        first.HearsNothing();
        second.HearsNothing();
    }
}
