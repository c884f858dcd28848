using Net.Zlink.Protocol.Zmp;
using Xunit;

namespace Net.Zlink.Tests.Protocol.Zmp;

public sealed class ZmpSocketTypeTests
{
    [Theory]
    [InlineData(0, "PAIR", new byte[] { 0 })]
    [InlineData(1, "PUB", new byte[] { 2, 10 })]
    [InlineData(2, "SUB", new byte[] { 1, 9 })]
    [InlineData(5, "DEALER", new byte[] { 5, 6 })]
    [InlineData(6, "ROUTER", new byte[] { 5, 6 })]
    [InlineData(9, "XPUB", new byte[] { 2, 10 })]
    [InlineData(10, "XSUB", new byte[] { 1, 9 })]
    public void A_type_talks_to_its_counterparts_and_to_no_other_byte(byte type, string name, byte[] peers)
    {
        var own = (ZmpSocketType)type;
        Assert.Equal(name, own.Name);
        Assert.Equal(peers, Enumerable.Range(0, 256).Select(static b => (byte)b).Where(b => own.IsCompatibleWith(b)));
        Assert.Equal(type is 5 or 6, own.AnnouncesIdentity);
    }

    [Fact]
    public void Socket_type_compatibility_is_mutual()
    {
        foreach (ZmpSocketType one in ZmpFixture.Types)
        {
            Assert.All(ZmpFixture.Types, other => Assert.Equal(one.IsCompatibleWith((byte)other), other.IsCompatibleWith((byte)one)));
        }
    }

    [Fact]
    public void A_number_that_is_no_type_talks_to_nobody_and_has_no_name()
    {
        const ZmpSocketType Stream = (ZmpSocketType)11;
        Assert.DoesNotContain(Enumerable.Range(0, 256), static b => Stream.IsCompatibleWith((byte)b));
        Assert.Throws<ArgumentOutOfRangeException>(static () => Stream.Name);
    }
}
