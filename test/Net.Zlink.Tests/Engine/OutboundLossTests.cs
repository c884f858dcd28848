using Net.Zlink.Engine;
using Net.Zlink.Protocol;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Tests.Buffers;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Engine;

public sealed class OutboundLossTests
{
    [Fact]
    public void A_header_whose_body_of_nearly_2_GiB_is_in_the_next_segment_is_the_beginning_of_a_message_that_goes_on()
    {
        const int First = 100;
        byte[] segment = new byte[First + (2 * ZmpFrame.HeaderSize)];
        ZmpFrame.WriteHeader(segment, ZmpFlags.None, First);
        ZmpFrame.WriteHeader(segment.AsSpan(ZmpFrame.HeaderSize + First), ZmpFlags.None, (uint)FrameFormat.LargestBody);
        Assert.Equal(ZmpFrame.HeaderSize + First, ZmpFrame.Format.LengthOfMessage(segment));
        Assert.Equal(0, ZmpFrame.Format.LengthOfMessage(segment.AsSpan(ZmpFrame.HeaderSize + First)));
    }

    [Fact]
    public void Messages_wait_for_the_next_greeting_though_the_lost_connection_ended_between_a_header_and_its_body()
    {
        using var bench = new OutboundFixture(TestPools.Create(), default);
        var owner = new CountingOwner(Wire.Pattern(OutgoingMessage.LargePayload));
        Assert.Equal(SendStatus.Accepted, bench.AppendOrWait(Wire.Pattern(OutgoingMessage.LargePayload), owner).Status);
        Assert.NotNull(bench.WriteOne()); // The header: its body is being written when the connection breaks.
        bench.Queue.Detach();
        bench.ReleaseWriting();
        bench.Wire.Clear();
        Assert.Equal(SendStatus.Accepted, bench.Append([1]));
        byte[] greeting = [7, 7, 7];
        Assert.True(bench.Queue.TryAppendControl(greeting));
        bench.WriteAll();
        Assert.Equal(greeting, bench.Wire);
        bench.Queue.Release();
        bench.WriteAll();
        Assert.Equal([.. greeting, .. OutboundFixture.Frame([1])], bench.Wire);
        Assert.Equal((1, 1), (bench.Queue.Counts.DroppedMessages, owner.Disposals));
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Of_news_that_had_left_in_part_the_rest_is_obsolete_whether_that_is_said_before_the_loss_or_behind_it(bool before)
    {
        using var bench = new OutboundFixture(TestPools.Create(), default, format: ZmpFrame.Format);
        byte[] header = new byte[ZmpFrame.HeaderSize];
        byte[] topic = [1, 2, 3];
        ZmpFrame.WriteHeader(header, ZmpFlags.Subscribe, (uint)topic.Length);
        bench.Queue.AppendOwn(header, topic, isUpdate: true, out _);
        bench.Queue.AppendOwn(header, topic, isUpdate: true, out _);
        OutboundSegment? segment = bench.BeginWrite();
        Assert.NotNull(segment);
        Assert.Equal((2, true), (segment.Messages, segment.IsSubscriptionUpdate));
        segment.Sent = segment.Length / 2;
        if (before)
        {
            bench.Queue.DropUpdates();
        }

        bench.Queue.Detach();
        if (!before)
        {
            bench.Queue.DropUpdates();
        }

        bench.ReleaseWriting();
        QueueCounts counts = bench.Queue.Counts;
        Assert.Equal((1, 1, 1), (counts.TakenMessages, counts.DroppedMessages, counts.ObsoleteMessages));
        Assert.Equal((0, 0), (counts.QueuedMessages, counts.QueuedUpdates));
        bench.Queue.Release();
        Assert.Null(bench.WriteOne());
    }
}
