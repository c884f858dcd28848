using Net.Zlink.Interop.Tests.Native;
using Net.Zlink.Interop.Tests.Support;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Interop.Tests.Matrix;

/// <summary>As <see cref="OwnExchangeTests"/>, many messages at once.</summary>
public sealed class OwnFloodTests
{
    // In every run of the tests: both ends' buffers are passed many times over all the same, and what another implementation writes
    // differently is not there to be found.
    private static readonly int Count = SlowTests.Rounds(10_000, all: 30_000);

    [Theory]
    [MemberData(nameof(LinkCase.OwnRows), MemberType = typeof(LinkCase))]
    public async Task Tens_of_thousands_of_messages_each_way_at_once_arrive_whole_and_in_order(
        NativeSocketType oneType, NativeSocketType otherType, bool oneBinds, TestTransport transport)
    {
        await using var context = new ZlinkContext();
        using PeerLink link = PeerLink.OpenOwn(context, oneType, otherType, oneBinds, transport);
        await Exchange.OfManyAsync(link, Count);
    }
}
