using Net.Zlink.Porting;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Porting;

public sealed class NativeCoreTests
{
    [Theory]
    [InlineData("tcp", true)]
    [InlineData("inproc", true)]
    [InlineData("TCP", false)]
    [InlineData("tls", true)]
    [InlineData("ws", true)]
    [InlineData("wss", true)]
    [InlineData("pgm", false)]
    [InlineData("curve", false)]
    [InlineData("draft", false)]
    [InlineData("", false)]
    public void A_capability_is_there_or_not(string name, bool expected) => Assert.Equal(expected, NativeCore.Has(name));

    [Fact]
    public void Ipc_is_there_where_the_system_has_it() =>
        Assert.Equal(System.Net.Sockets.Socket.OSSupportsUnixDomainSockets, NativeCore.Has("ipc"));

    [Fact]
    public void Every_transport_that_is_told_to_be_there_can_be_bound()
    {
        using var certificates = new TestCertificates();
        using var context = new ZlinkContext();
        foreach ((string scheme, string endpoint) in new[] { ("tcp", "tcp://127.0.0.1:0"), ("ipc", "ipc://*"), ("inproc", "inproc://x"),
            ("tls", "tls://127.0.0.1:0"), ("ws", "ws://127.0.0.1:0"), ("wss", "wss://127.0.0.1:0") })
        {
            using PairSocket socket = context.CreatePair();
            socket.Options.Tls.Certificate = certificates.Server;
            if (NativeCore.Has(scheme))
            {
                socket.Bind(endpoint);
            }
            else
            {
                Assert.Equal(ZlinkError.ProtocolNotSupported, Assert.Throws<ZlinkException>(() => socket.Bind(endpoint)).Error);
            }
        }
    }

    [Fact]
    public void The_versions_are_ours_and_the_one_that_is_followed()
    {
        Assert.Equal(typeof(ZlinkContext).Assembly.GetName().Version, ZlinkLibrary.Version);
        Assert.Equal(new Version(1, 3, 0), NativeCore.Version);
        Assert.Throws<ArgumentNullException>(() => NativeCore.Has(null!));
    }
}
