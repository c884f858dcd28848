using Net.Zlink.Conformance.Tests.Behaviour.Fixtures;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Conformance.Tests.Behaviour;

/// <summary>As the native test_probe_router.</summary>
public sealed class ProbeRouterTests
{
    [Theory]
    [MemberData(nameof(Link.All), MemberType = typeof(Link))]
    public async Task A_probing_router_announces_itself_with_an_empty_message(string transport)
    {
        await using var fixture = new StreamFixture();
        RouterSocket server = fixture.Context.CreateRouter();
        RouterSocket client = fixture.Context.CreateRouter(new RouterOptions { RoutingId = SocketWords.Bytes("X"), ProbeRouter = true });
        client.Connect(server.Bind(Link.Any(transport)));
        await AssertProbedAsync(server);
        server.SayTo("X", "Hello");
        (byte[] id, string[] parts) = await client.HearFromAsync();
        Assert.Equal(16, id.Length);
        Assert.Equal(["Hello"], parts);
    }

    [Theory]
    [MemberData(nameof(Link.All), MemberType = typeof(Link))]
    public async Task A_probing_dealer_announces_itself_with_an_empty_message(string transport)
    {
        await using var fixture = new StreamFixture();
        RouterSocket server = fixture.Context.CreateRouter();
        DealerSocket client = fixture.Context.CreateDealer(new DealerOptions { RoutingId = SocketWords.Bytes("X"), ProbeRouter = true });
        client.Connect(server.Bind(Link.Any(transport)));
        await AssertProbedAsync(server);
        server.SayTo("X", "Hello");
        Assert.Equal("Hello", await client.HearOneAsync());
    }

    private static async Task AssertProbedAsync(RouterSocket server)
    {
        (byte[] id, string[] parts) = await server.HearFromAsync();
        Assert.Equal("X", SocketWords.Text(id));
        Assert.Equal([""], parts);
        server.HearsNothing();
    }
}
