using Net.Zlink.Conformance.Tests.Behaviour.Fixtures;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Conformance.Tests.Behaviour;

/// <summary>As the native test_router_mandatory.</summary>
public sealed class RouterMandatoryTests
{
    [Theory]
    [MemberData(nameof(Link.All), MemberType = typeof(Link))]
    public async Task An_unknown_id_is_dropped_by_default_and_unreachable_with_the_option(string transport)
    {
        await using var fixture = new StreamFixture();
        RouterSocket router = fixture.Context.CreateRouter();
        string endpoint = router.Bind(Link.Any(transport));
        router.SayTo("UNKNOWN", "DATA");
        Assert.True(router.To("UNKNOWN"u8).TrySend("DATA"u8));
        Assert.Equal(2, router.GetStatistics().DroppedUnroutable);

        router.Options.Mandatory = true;
        SocketWords.Fails("EHOSTUNREACH", () => router.SayTo("UNKNOWN", "DATA"));
        Assert.False(router.To("UNKNOWN"u8).TrySend("DATA"u8));

        DealerSocket dealer = fixture.Context.CreateDealer(new DealerOptions { RoutingId = SocketWords.Bytes("X") });
        dealer.Connect(endpoint);
        dealer.Say("Hello");
        Assert.Equal("X", SocketWords.Text((await router.HearFromAsync()).Id));
        router.SayTo("X", "Hello");
        Assert.Equal("Hello", await dealer.HearOneAsync());
    }
}
