using Net.Zlink.Protocol;
using Xunit;

namespace Net.Zlink.Tests.Protocol;

public sealed class FrameHeaderTests
{
    [Fact]
    public void A_header_is_written_lowest_byte_first_in_its_own_length()
    {
        var bytes = new byte[9];
        new FrameHeader(0x0403_0201, 4).WriteTo(bytes);
        Assert.Equal([1, 2, 3, 4, 0, 0, 0, 0, 0], bytes);
        new FrameHeader(0x0807_0605_0403_0201, 8).WriteTo(bytes);
        Assert.Equal([1, 2, 3, 4, 5, 6, 7, 8, 0], bytes);
    }
}
