using Net.Zlink.Interop.Tests.Native;
using Net.Zlink.Interop.Tests.Support;
using Xunit;

namespace Net.Zlink.Interop.Tests.Matrix;

/// <summary>The same with ours at both ends, where there is inproc too: some rows of the matrix, and all with ZLINK_SLOW_TESTS=1. Needs
/// no native library. The floods are in <see cref="OwnFloodTests"/>, so that the two run beside each other.</summary>
public sealed class OwnExchangeTests
{
    [Theory]
    [MemberData(nameof(LinkCase.OwnRows), MemberType = typeof(LinkCase))]
    public async Task Messages_of_every_shape_arrive_as_they_were_sent(
        NativeSocketType oneType, NativeSocketType otherType, bool oneBinds, TestTransport transport)
    {
        await using var context = new ZlinkContext();
        using PeerLink link = PeerLink.OpenOwn(context, oneType, otherType, oneBinds, transport);
        Exchange.OfEveryShape(link);
    }
}
