using Net.Zlink.Conformance.Tests.Behaviour.Fixtures;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Conformance.Tests.Behaviour;

/// <summary>As the native test_bind_fuzzer: any text may be given to Bind.</summary>
public sealed class BindFuzzerTests
{
    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public async Task Any_text_is_bound_or_refused_with_an_error_of_ours(int seed)
    {
        await using var fixture = new StreamFixture();
        PubSocket pub = fixture.Context.CreatePub();
        foreach (string text in EndpointNoise.Texts(seed))
        {
            try
            {
                pub.Bind(text);
                pub.Unbind(pub.LastEndpoint);
            }
            catch (ZlinkException refused)
            {
                Assert.NotEqual(ZlinkError.None, refused.Error);
            }
        }
    }
}
