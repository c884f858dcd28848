using Net.Zlink.Conformance.Tests.Behaviour.Fixtures;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Conformance.Tests.Behaviour;

/// <summary>As the native test_connect_resolve: what a connect accepts at once and what it refuses.</summary>
public sealed class ConnectResolveTests
{
    [Theory]
    [InlineData("tcp://localhost:1234")]
    [InlineData("tcp://[::1]:1234")]
    [InlineData("tcp://a-name-that-does-not.exist:1234")]
    public async Task An_address_that_may_turn_out_right_is_accepted(string endpoint)
    {
        await using var fixture = new StreamFixture();
        PubSocket pub = fixture.Context.CreatePub(new PubOptions { Linger = TimeSpan.Zero });
        pub.Connect(endpoint);
        Assert.Equal(1, pub.PeerCount);
        pub.Dispose();
    }

    [Theory]
    [InlineData("tcp://localhost :1234", "EINVAL")]
    [InlineData("tcp://", "EINVAL")]
    [InlineData("tcp://localhost:invalid", "EINVAL")]
    [InlineData("tcp://localhost", "EINVAL")]
    [InlineData("tcp://*:1234", "EINVAL")]
    [InlineData("", "EINVAL")]
    [InlineData("localhost:1234", "EINVAL")]
    [InlineData("invalid://localhost:1234", "EPROTONOSUPPORT")]
    [InlineData("TCP://localhost:1234", "EPROTONOSUPPORT")]
    [InlineData("pgm://eth0;239.192.1.1:5555", "EPROTONOSUPPORT")]
    public async Task Nonsense_is_refused_at_once(string endpoint, string error)
    {
        await using var fixture = new StreamFixture();
        PubSocket pub = fixture.Context.CreatePub();
        SocketWords.Fails(error, () => pub.Connect(endpoint));
        Assert.Equal(0, pub.PeerCount);
    }
}
