using Net.Zlink.Conformance.Tests.Behaviour.Fixtures;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Conformance.Tests.Behaviour.Own;

/// <summary>How endpoints are written with IPv6.</summary>
public sealed class IPv6EndpointTests
{
    [Theory]
    [InlineData("tcp://*:*", "tcp://[::]:")]
    [InlineData("tcp://[::1]:0", "tcp://[::1]:")]
    [InlineData("tcp://127.0.0.1:0", "tcp://[::ffff:127.0.0.1]:")]
    public async Task A_bind_with_IPv6_names_the_address_in_brackets(string text, string expected)
    {
        Assert.SkipUnless(System.Net.Sockets.Socket.OSSupportsIPv6, "this machine has no IPv6");
        await using var fixture = new StreamFixture();
        RouterSocket server = fixture.Context.CreateRouter(new RouterOptions { IPv6 = true });
        Assert.StartsWith(expected, server.Bind(text), StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_literal_of_IPv6_cannot_be_bound_without_the_option()
    {
        await using var fixture = new StreamFixture();
        RouterSocket server = fixture.Context.CreateRouter();
        SocketWords.Fails("ENODEV", () => server.Bind("tcp://[::1]:0"));
    }

    [Fact]
    public async Task A_client_of_IPv4_reaches_a_wildcard_of_IPv6()
    {
        Assert.SkipUnless(System.Net.Sockets.Socket.OSSupportsIPv6, "this machine has no IPv6");
        await using var fixture = new StreamFixture();
        RouterSocket server = fixture.Context.CreateRouter(new RouterOptions { IPv6 = true });
        DealerSocket client = fixture.Context.CreateDealer();
        string endpoint = server.Bind("tcp://*:*");
        client.Connect(endpoint.Replace("[::]", "127.0.0.1", StringComparison.Ordinal));
        client.Say("Hello");
        using Message message = await server.ReceiveAsync(Guard.Token).Guarded();
        Assert.True(message.TryGetProperty("Peer-Address", out string? address));
        Assert.Contains("127.0.0.1", address, StringComparison.Ordinal);
    }
}
