using Net.Zlink.Conformance.Tests.Behaviour.Fixtures;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Conformance.Tests.Behaviour;

/// <summary>As the native routing-id/test_router_auto_id_format.</summary>
public sealed class RouterAutoIdFormatTests
{
    [Theory]
    [MemberData(nameof(Link.All), MemberType = typeof(Link))]
    public async Task A_dealer_without_a_name_is_known_by_16_bytes_of_a_random_UUID(string transport)
    {
        await using var fixture = new StreamFixture();
        RouterSocket router = fixture.Context.CreateRouter();
        DealerSocket dealer = fixture.Context.CreateDealer();
        dealer.Connect(router.Bind(Link.Any(transport)));
        dealer.Say("Hello");
        byte[] id = (await router.HearFromAsync()).Id;
        Assert.Equal(16, id.Length);
        Assert.Equal(dealer.Options.RoutingId.ToArray(), id);
        Assert.Equal(0x40, id[6] & 0xF0);
        Assert.Equal(0x80, id[8] & 0xC0);
    }
}
