using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Options;

/// <summary>A socket has a copy of the options that it is made with.</summary>
public sealed class OwnOptionsTests
{
    [Fact]
    public async Task Sockets_of_one_options_object_have_copies_and_random_routing_ids_of_their_own()
    {
        await using var fixture = new ContextFixture();
        var options = new DealerOptions { SendHighWaterMark = 7 };
        options.WebSocket.AllowedPaths.Add("/chat");
        DealerSocket first = fixture.Context.CreateDealer(options);
        options.SendHighWaterMark = 8;
        options.Tls.CaFile = "later.pem";
        options.WebSocket.AllowedPaths.Add("/later");
        DealerSocket second = fixture.Context.CreateDealer(options);

        Assert.Equal((7, "", 1), (first.Options.SendHighWaterMark, first.Options.Tls.CaFile, first.Options.WebSocket.AllowedPaths.Count));
        Assert.Equal((8, "later.pem", 2),
            (second.Options.SendHighWaterMark, second.Options.Tls.CaFile, second.Options.WebSocket.AllowedPaths.Count));
        Assert.NotEqual(first.Options.RoutingId, second.Options.RoutingId);
    }

    [Fact]
    public async Task A_routing_id_that_was_set_is_that_of_each_socket()
    {
        await using var fixture = new ContextFixture();
        var options = new RouterOptions { RoutingId = RoutingId.FromText("one") };
        Assert.Equal("one", fixture.Context.CreateRouter(options).Options.RoutingId.ToString());
        Assert.Equal("one", fixture.Context.CreateRouter(options).Options.RoutingId.ToString());
    }

    [Fact]
    public async Task Fields_that_no_request_can_have_are_refused_when_the_socket_is_made()
    {
        await using var fixture = new ContextFixture();
        var options = new PairOptions();
        options.WebSocket.RequestFields["Host"] = "example";
        var refusal = Assert.Throws<ArgumentException>(() => fixture.Context.CreatePair(options));
        Assert.StartsWith("RequestFields", refusal.Message, StringComparison.Ordinal);
        Assert.Equal(0, fixture.Context.GetStatistics().Sockets);
    }
}
