using Net.Zlink.Buffers;
using Net.Zlink.Engine;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Tests.Buffers;
using Xunit;

namespace Net.Zlink.Tests.Engine;

public sealed class OutboundLossTests
{
    [Fact]
    public void A_header_whose_body_of_nearly_2_GiB_is_in_the_next_segment_is_the_beginning_of_a_message_that_goes_on()
    {
        const int First = 100;
        using BufferPool pool = TestPools.Create();
        OutboundSegment segment = OutboundSegment.ForEncoding(pool.RentArray(First + (2 * ZmpFrame.HeaderSize)));
        ZmpFrame.WriteHeader(segment.FreeSpan, ZmpFlags.None, First);
        segment.Length = ZmpFrame.HeaderSize + First;
        ZmpFrame.WriteHeader(segment.FreeSpan, ZmpFlags.None, (uint)ZmpFrame.LargestBody);
        segment.Length += ZmpFrame.HeaderSize;
        segment.Messages = 1;
        segment.EndsMidFrame = true;
        segment.Sent = segment.Length - 1;
        Assert.Equal(new OutboundLoss(segment.Length, Written: 1, Lost: 0, Continues: true), OutboundLoss.Of(segment));
        segment.Release(pool);
    }
}
