using Net.Zlink.Conformance.Tests.Behaviour.Fixtures;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Conformance.Tests.Behaviour;

/// <summary>As the native test_connect_fuzzer: any text may be given to Connect.</summary>
public sealed class ConnectFuzzerTests
{
    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public async Task Any_text_is_connected_or_refused_with_an_error_of_ours(int seed)
    {
        await using var fixture = new StreamFixture();
        PubSocket pub = fixture.Context.CreatePub(new PubOptions { Linger = TimeSpan.Zero });
        foreach (string text in EndpointNoise.Texts(seed))
        {
            try
            {
                pub.Connect(text);
                pub.Disconnect(text);
            }
            catch (ZlinkException refused)
            {
                Assert.NotEqual(ZlinkError.None, refused.Error);
            }
        }

        Assert.Equal(0, pub.PeerCount);
    }
}
