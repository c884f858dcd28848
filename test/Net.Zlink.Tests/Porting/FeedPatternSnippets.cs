using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Porting;

/// <summary>The snippet of docs/patterns.md about subscribers that come late, compiled and run.</summary>
public sealed class FeedPatternSnippets
{
    [Fact]
    public async Task A_late_subscriber_gets_the_newest_price()
    {
        await using var fixture = new ContextFixture();
        ZlinkContext context = fixture.Context;
        CancellationToken cancellation = Guard.Token;

        await using var prices = new LastValuePublisher(context, "tcp://127.0.0.1:*");
        prices.Publish("price.EUR", "1.17"u8);
        prices.Publish("price.EUR", "1.18"u8);

        SubSocket late = context.CreateSub().ConnectedTo(prices.Socket.LastEndpoint);
        late.Subscribe("price.");
        using Message first = await late.ReceiveAsync(cancellation); // "price.EUR", "1.18"
        Assert.Equal(("price.EUR", "1.18"), (first.GetString(), first.GetString(1)));
    }
}
