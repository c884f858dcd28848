using Net.Zlink.Conformance.Tests.Behaviour.Fixtures;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Conformance.Tests.Behaviour;

/// <summary>As the native test_last_endpoint, with what a connect and a failure leave there.</summary>
public sealed class LastEndpointTests
{
    [Fact]
    public async Task LastEndpoint_is_the_endpoint_of_the_last_bind()
    {
        await using var fixture = new StreamFixture();
        RouterSocket socket = fixture.Context.CreateRouter();
        Assert.Equal("", socket.LastEndpoint);
        for (int i = 0; i < 2; i++)
        {
            string endpoint = RawListener.NobodyListens();
            Assert.Equal(endpoint, socket.Bind(endpoint));
            Assert.Equal(endpoint, socket.LastEndpoint);
        }
    }

    [Fact]
    public async Task A_connect_sets_it_to_its_text_and_a_failure_leaves_it()
    {
        await using var fixture = new StreamFixture();
        DealerSocket socket = fixture.Context.CreateDealer(new DealerOptions { Linger = TimeSpan.Zero });
        socket.Connect("tcp://localhost:1234");
        Assert.Equal("tcp://localhost:1234", socket.LastEndpoint);
        SocketWords.Fails("EINVAL", () => socket.Connect("tcp://localhost"));
        SocketWords.Fails("EPROTONOSUPPORT", () => socket.Bind("udp://127.0.0.1:1234"));
        Assert.Equal("tcp://localhost:1234", socket.LastEndpoint);
        string name = Link.Any(Link.Inproc);
        socket.Bind(name);
        Assert.Equal(name, socket.LastEndpoint);
    }

    [Fact]
    public async Task A_wildcard_host_becomes_the_numeric_address_of_any()
    {
        await using var fixture = new StreamFixture();
        DealerSocket socket = fixture.Context.CreateDealer();
        socket.Bind("tcp://*:*");
        Assert.StartsWith("tcp://0.0.0.0:", socket.LastEndpoint, StringComparison.Ordinal);
    }
}
