using Net.Zlink.Sockets.Routing;
using Xunit;
using static Net.Zlink.Tests.Sockets.Routing.RoutingFixture;

namespace Net.Zlink.Tests.Sockets.Routing;

public sealed class SubscriptionPartsTests
{
    [Theory]
    [InlineData("\u0001topic", "Subscribe", "topic")]
    [InlineData("\u0001", "Subscribe", "")]
    [InlineData("\0topic", "Cancel", "topic")]
    [InlineData("\0", "Cancel", "")]
    [InlineData("", "Data", "")]
    [InlineData("\u0002A\0", "Data", "")]
    [InlineData("topic", "Data", "")]
    public void A_part_is_a_subscription_by_its_first_byte(string body, string kind, string prefix)
    {
        Assert.Equal(Enum.Parse<UpstreamPart>(kind), SubscriptionParts.KindOf(Bytes(body), out ReadOnlySpan<byte> found));
        Assert.Equal(prefix, Text(found));
    }
}
