using Net.Zlink.Protocol;
using Net.Zlink.Protocol.Zmp;
using Xunit;

namespace Net.Zlink.Tests.Protocol.Zmp;

public sealed class ZmpScannerTests
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
        var scanner = default(ZmpScanner);
        FrameScan scan = scanner.Scan(ZmpFixture.Hex(bytes), -1);
        Assert.Equal((0, 0, nextFrame), (scan.Consumed, scan.Frames, scan.NextFrameSize));
        Assert.Equal(fault, scanner.Fault is { } found ? ZmpFixture.Text(found) : null);
        Assert.False(scanner.Fault?.FailsHandshakeAsProtocol ?? false);
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
        var scanner = default(ZmpScanner);
        FrameScan scan = scanner.Scan(ZmpFixture.Hex($"{magic}{version}{flags}{reserved}00000007 01050452415731"), -1);
        Assert.Equal(expected, scanner.Fault is { } found ? ZmpFixture.Text(found) : null);
        Assert.Equal(expected is null ? (15, 1) : (0, 0), (scan.Consumed, scan.Frames));
        Assert.Equal(expected is not null, scanner.Fault?.FailsHandshakeAsProtocol ?? false);
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
        byte[] good = ZmpFixture.Hex(ZmpFixture.Hello + ZmpFixture.Ready + "5A0100000000000A 00010203040506070809");
        var scanner = default(ZmpScanner);
        FrameScan scan = scanner.Scan([.. good, .. ZmpFixture.Hex(header)], 10);
        Assert.Equal((good.Length, 3, 0), (scan.Consumed, scan.Frames, scan.NextFrameSize));
        Assert.Equal(expected, ZmpFixture.Text(scanner.Fault!.Value));
        Assert.False(scanner.Fault!.Value.FailsHandshakeAsProtocol);
        ZmpFault? before = scanner.Fault;
        Assert.True(scanner.Scan(ZmpFixture.Hex(header), 10).IsBroken);
        Assert.Equal(before, scanner.Fault);
    }

    [Fact]
    public void The_limit_is_for_every_frame_but_HELLO()
    {
        var scanner = default(ZmpScanner);
        FrameScan scan = scanner.Scan(ZmpFixture.Hex(ZmpFixture.Hello + ZmpFixture.Ready), 0);
        Assert.Equal((15, 1), (scan.Consumed, scan.Frames));
        Assert.Equal(ZmpFault.BodyTooLarge, scanner.Fault);
        Assert.Equal(1u, scan.Announced);
    }

    [Fact]
    public void A_body_that_no_array_holds_is_refused_whatever_the_limit()
    {
        ZmpScanner scanner = BehindReady();
        uint largest = (uint)ZmpFrame.LargestBody;
        var header = new byte[8];
        ZmpFrame.WriteHeader(header, ZmpFlags.None, largest);
        Assert.Equal(new FrameScan(0, 0, Array.MaxLength, IsBroken: false, largest), scanner.Scan(header, -1));
        ZmpFrame.WriteHeader(header, ZmpFlags.None, largest + 1);
        Assert.Equal(new FrameScan(0, 0, 0, IsBroken: true, largest + 1), scanner.Scan(header, -1));
        Assert.Equal(ZmpFault.BodyTooLarge, scanner.Fault);
        Assert.Equal(new FrameScan(0, 0, 0, IsBroken: true, largest + 1), scanner.Scan(header, long.MaxValue));
        Assert.Equal(ZmpFault.BodyTooLarge, scanner.Fault);
    }

    [Fact]
    public void An_incomplete_frame_is_announced_with_its_whole_size()
    {
        ZmpScanner scanner = BehindReady();
        Assert.Equal(new FrameScan(0, 0, 0, IsBroken: false, 0), scanner.Scan(ZmpFixture.Hex("5A010000000000"), -1));
        Assert.Equal(new FrameScan(0, 0, 70_008, IsBroken: false, 70_000), scanner.Scan(ZmpFixture.Hex("5A01000000011170"), -1));
        byte[] bytes = ZmpFixture.Hex("5A01000000000001 78 5A01000000000002 78");
        Assert.Equal(new FrameScan(9, 1, 10, IsBroken: false, 2), scanner.Scan(bytes, -1));
    }

    [Theory]
    [InlineData(0, true)]
    [InlineData(1, true)]
    [InlineData(2, true)]
    [InlineData(2, false)]
    public void A_control_frame_and_any_frame_before_READY_has_64_KiB_at_most(byte flags, bool isBeforeReady)
    {
        ZmpScanner scanner = BehindReady();
        if (isBeforeReady)
        {
            scanner = default;
            scanner.Scan(ZmpFixture.Hex(ZmpFixture.Hello), -1);
        }

        var header = new byte[8];
        ZmpFrame.WriteHeader(header, (ZmpFlags)flags, 64 * 1024);
        Assert.Equal(new FrameScan(0, 0, (64 * 1024) + header.Length, IsBroken: false, 64 * 1024), scanner.Scan(header, -1));
        ZmpFrame.WriteHeader(header, (ZmpFlags)flags, (64 * 1024) + 1);
        Assert.Equal(new FrameScan(0, 0, 0, IsBroken: true, (64 * 1024) + 1), scanner.Scan(header, -1));
        Assert.Equal(ZmpFault.BodyTooLarge, scanner.Fault);
    }

    private static ZmpScanner BehindReady()
    {
        var scanner = default(ZmpScanner);
        scanner.Scan(ZmpFixture.Hex(ZmpFixture.Hello + ZmpFixture.Ready), -1);
        return scanner;
    }
}
