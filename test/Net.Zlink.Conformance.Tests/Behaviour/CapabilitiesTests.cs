using Net.Zlink.Porting;
using Xunit;

namespace Net.Zlink.Conformance.Tests.Behaviour;

/// <summary>As the native test_capabilities, for the transports and features that the native core has or leaves out.</summary>
public sealed class CapabilitiesTests
{
    [Theory]
    [InlineData("ipc", true)]
    [InlineData("tcp", true)]
    [InlineData("tls", true)]
    [InlineData("ws", true)]
    [InlineData("wss", true)]
    [InlineData("pgm", false)]
    [InlineData("epgm", false)]
    [InlineData("tipc", false)]
    [InlineData("norm", false)]
    [InlineData("curve", false)]
    [InlineData("gssapi", false)]
    [InlineData("vmci", false)]
    [InlineData("draft", false)]
    [InlineData("nonsense", false)]
    public void A_capability_is_there_or_not_as_in_the_native_core(string name, bool expected) =>
        Assert.Equal(expected, NativeCore.Has(name));

    [Fact]
    public void The_native_version_spoken_is_1_3_0() => Assert.Equal(new Version(1, 3, 0), NativeCore.Version);
}
