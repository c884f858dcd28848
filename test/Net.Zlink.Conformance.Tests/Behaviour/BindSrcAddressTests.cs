using Net.Zlink.Conformance.Tests.Behaviour.Fixtures;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Conformance.Tests.Behaviour;

/// <summary>As the native test_bind_src_address.</summary>
public sealed class BindSrcAddressTests
{
    [Theory]
    [InlineData("tcp://127.0.0.1:0;localhost:1234")]
    [InlineData("tcp://localhost:5555;localhost:1235")]
    [InlineData("tcp://lo:5555;localhost:1236")]
    public async Task A_source_address_is_accepted_at_once_whatever_comes_of_it(string endpoint)
    {
        await using var fixture = new StreamFixture();
        PubSocket pub = fixture.Context.CreatePub(new PubOptions { Linger = TimeSpan.Zero });
        pub.Connect(endpoint);
        Assert.Equal(1, pub.PeerCount);
        pub.Dispose();
    }

    [Fact]
    public async Task A_connection_comes_from_its_source_address()
    {
        await using var fixture = new StreamFixture();
        RouterSocket server = fixture.Context.CreateRouter();
        DealerSocket client = fixture.Context.CreateDealer();
        string endpoint = server.Bind(Link.Any(Link.Tcp));
        client.Connect($"tcp://127.0.0.2:0;{endpoint["tcp://".Length..]}");
        client.Say("Hello");
        using Message message = await server.ReceiveAsync(Guard.Token).Guarded();
        Assert.StartsWith("tcp://127.0.0.2:", message.RemoteEndpoint, StringComparison.Ordinal);
    }
}
