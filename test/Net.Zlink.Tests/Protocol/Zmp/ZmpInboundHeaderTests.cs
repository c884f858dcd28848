using Net.Zlink.Protocol;
using Net.Zlink.Protocol.Zmp;
using Xunit;

namespace Net.Zlink.Tests.Protocol.Zmp;

/// <summary>What is refused by its header, and what is said of a frame that is incomplete.</summary>
public sealed class ZmpInboundHeaderTests
{
    [Theory]
    [InlineData("5A01020000000007", 15, null)]
    [InlineData("5B01020000000007", 15, null)]
    [InlineData("4745542000000007", 15, null)]
    [InlineData("5A010200000000", 0, null)]
    [InlineData("", 0, null)]
    [InlineData("5A01020000000002", 0, "7F hello too short")]
    [InlineData("5A01020000000000", 0, "7F hello too short")]
    [InlineData("FF00000000000000", 0, "7F hello too short")]
    [InlineData("5A01020000000102", 266, null)]
    [InlineData("5A01020000000103", 0, "04 hello too large")]
    [InlineData("5A010200FFFFFFFF", 0, "04 hello too large")]
    [InlineData("474554202F204854", 0, "04 hello too large")]
    [InlineData("5A01020000000003 0105", 11, null)]
    public void The_length_of_a_HELLO_is_checked_first_and_nothing_else_before_its_body_is_in(string bytes, int nextFrame, string? fault)
    {
        var inbound = new ZmpInbound(ZmpSocketType.Dealer, maxMessageSize: -1);
        ZmpInboundKind kind = inbound.Next(ZmpFixture.Hex(bytes), out _, out int size);
        Assert.Equal((fault is null ? ZmpInboundKind.Incomplete : ZmpInboundKind.Fault, nextFrame), (kind, size));
        Assert.Equal(fault, fault is null ? null : ZmpFixture.Text(inbound.Fault));
        Assert.False(inbound.Fault.FailsHandshakeAsProtocol);
    }

    [Theory]
    [InlineData("5B", "02", "00", "01", "01 invalid magic")]
    [InlineData("5A", "02", "01", "03", "02 version mismatch")]
    [InlineData("5A", "00", "00", "02", "02 version mismatch")]
    [InlineData("5A", "01", "01", "02", "03 flags invalid")]
    [InlineData("5A", "01", "00", "00", "03 flags invalid")]
    [InlineData("5A", "01", "00", "01", "03 flags invalid")]
    [InlineData("5A", "01", "00", "03", "03 flags invalid")]
    [InlineData("5A", "01", "00", "08", "03 flags invalid")]
    [InlineData("5A", "01", "00", "22", "03 flags invalid")]
    [InlineData("5A", "01", "00", "02", null)]
    public void The_header_of_a_whole_HELLO_is_checked_in_order(
        string magic, string version, string reserved, string flags, string? expected)
    {
        var inbound = new ZmpInbound(ZmpSocketType.Dealer, maxMessageSize: -1);
        byte[] hello = ZmpFixture.Hex($"{magic}{version}{flags}{reserved}00000007 01050452415731");
        ZmpInboundKind kind = inbound.Next(hello, out _, out _);
        Assert.Equal(expected is null ? ZmpInboundKind.HelloAccepted : ZmpInboundKind.Fault, kind);
        Assert.Equal(expected, expected is null ? null : ZmpFixture.Text(inbound.Fault));
        Assert.Equal(expected is not null, inbound.Fault.FailsHandshakeAsProtocol);
    }

    [Theory]
    [InlineData("5B01000000000002", "01 invalid magic")]
    [InlineData("5A02000000000002", "02 version mismatch")]
    [InlineData("5A01000100000002", "03 flags invalid")]
    [InlineData("5A01180000000002", "03 flags invalid")]
    [InlineData("5A01030000000002", "03 flags invalid")]
    [InlineData("5A0100000000000B", "04 body too large")]
    [InlineData("5A0102000000000B", "04 body too large")]
    [InlineData("5A01080000000 00B", "04 body too large")]
    [InlineData("5A010000FFFFFFFF", "04 body too large")]
    [InlineData("5A02200100 00000B", "02 version mismatch")]
    [InlineData("5A01200100 00000B", "03 flags invalid")]
    public void A_bad_header_is_refused_on_its_eight_bytes_behind_the_good_frames(string header, string expected)
    {
        ZmpInbound inbound = BehindReady(limit: 10);
        Assert.Equal(ZmpInboundKind.Data, inbound.Next(ZmpFixture.Hex("5A0100000000000A 00010203040506070809"), out _, out _));
        for (int i = 0; i < 2; i++)
        {
            Assert.Equal(ZmpInboundKind.Fault, inbound.Next(ZmpFixture.Hex(header), out _, out _));
            Assert.Equal(expected, ZmpFixture.Text(inbound.Fault));
            Assert.False(inbound.Fault.FailsHandshakeAsProtocol);
        }
    }

    [Fact]
    public void The_limit_is_for_every_frame_but_HELLO()
    {
        var inbound = new ZmpInbound(ZmpSocketType.Dealer, maxMessageSize: 0);
        Assert.Equal(ZmpInboundKind.HelloAccepted, inbound.Next(ZmpFixture.Hex(ZmpFixture.Hello), out _, out _));
        Assert.Equal(ZmpInboundKind.Fault, inbound.Next(ZmpFixture.Hex(ZmpFixture.Ready), out _, out _));
        Assert.Equal(ZmpFault.BodyTooLarge, inbound.Fault);
    }

    [Theory]
    [InlineData(-1)]
    [InlineData(long.MaxValue)]
    public void A_body_that_no_array_holds_is_refused_whatever_the_limit(long limit)
    {
        ZmpInbound inbound = BehindReady(limit);
        uint largest = (uint)FrameFormat.LargestBody;
        ExpectIncomplete(ref inbound, 0, largest);
        ExpectTooLarge(ref inbound, 0, largest + 1);
    }

    [Fact]
    public void An_incomplete_frame_is_announced_with_its_whole_size()
    {
        ZmpInbound inbound = BehindReady();
        Assert.Equal(ZmpInboundKind.Incomplete, inbound.Next(ZmpFixture.Hex("5A010000000000"), out _, out int size));
        Assert.Equal(0, size);
        ExpectIncomplete(ref inbound, 0, 70_000);
    }

    [Theory]
    [InlineData(0, true)]
    [InlineData(1, true)]
    [InlineData(2, true)]
    [InlineData(2, false)]
    public void A_control_frame_and_any_frame_before_READY_has_64_KiB_at_most(byte flags, bool isBeforeReady)
    {
        ZmpInbound inbound = BehindReady();
        if (isBeforeReady)
        {
            inbound = new ZmpInbound(ZmpSocketType.Dealer, maxMessageSize: -1);
            inbound.Next(ZmpFixture.Hex(ZmpFixture.Hello), out _, out _);
        }

        ExpectIncomplete(ref inbound, flags, 64 * 1024);
        ExpectTooLarge(ref inbound, flags, (64 * 1024) + 1);
    }

    [Theory]
    [InlineData(8)]
    [InlineData(16)]
    public void A_topic_over_a_publishers_limit_is_dropped_in_the_pieces_that_come(byte flags)
    {
        ZmpInbound inbound = BehindReady(limit: 3, skipsLongTopics: true);
        byte[] topic = ZmpFixture.Frame(flags, "topic"u8);
        Assert.Equal(ZmpInboundKind.LongTopic, inbound.Next(topic, out _, out int size));
        Assert.Equal(ZmpFrame.HeaderSize, size);
        Assert.Equal(ZmpInboundKind.ToDrop, inbound.Next("to"u8, out _, out size));
        Assert.Equal(2, size);
        Assert.Equal(ZmpInboundKind.ToDrop, inbound.Next([.. "pic"u8, .. ZmpFixture.Frame(flags, "t"u8)], out _, out size));
        Assert.Equal(3, size);
        Assert.NotEqual(ZmpInboundKind.ToDrop, inbound.Next(ZmpFixture.Frame(flags, "t"u8), out _, out _));
    }

    private static void ExpectIncomplete(ref ZmpInbound inbound, byte flags, uint length)
    {
        Assert.Equal(ZmpInboundKind.Incomplete, inbound.Next(Header(flags, length), out _, out int size));
        Assert.Equal(ZmpFrame.HeaderSize + (int)length, size);
    }

    private static void ExpectTooLarge(ref ZmpInbound inbound, byte flags, uint length)
    {
        Assert.Equal(ZmpInboundKind.Fault, inbound.Next(Header(flags, length), out _, out _));
        Assert.Equal(ZmpFault.BodyTooLarge, inbound.Fault);
    }

    private static byte[] Header(byte flags, uint length)
    {
        var header = new byte[ZmpFrame.HeaderSize];
        ZmpFrame.WriteHeader(header, (ZmpFlags)flags, length);
        return header;
    }

    private static ZmpInbound BehindReady(long limit = -1, bool skipsLongTopics = false)
    {
        var inbound = new ZmpInbound(ZmpSocketType.Dealer, limit, skipsLongTopics);
        inbound.Next(ZmpFixture.Hex(ZmpFixture.Hello), out _, out _);
        Assert.Equal(ZmpInboundKind.ReadyAccepted, inbound.Next(ZmpFixture.Hex(ZmpFixture.Ready), out _, out _));
        return inbound;
    }
}
