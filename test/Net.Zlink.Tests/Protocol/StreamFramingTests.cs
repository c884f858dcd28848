using System.Buffers.Binary;
using FsCheck;
using FsCheck.Fluent;
using Net.Zlink.Protocol.Stream;
using Xunit;
using static Net.Zlink.Tests.Engine.EngineFixture;

namespace Net.Zlink.Tests.Protocol;

public sealed class StreamFramingTests
{
    private const long Limit = 200;

    [Fact]
    public void Any_bytes_in_any_segmentation_give_the_same_frames()
    {
        // Small bytes make small lengths and so many frames; now and then a large one makes a length over the limit.
        Gen<byte> bytes = Gen.Frequency((8, Gen.Constant((byte)0)), (6, Gen.Choose(0, 12).Select(b => (byte)b)),
            (1, Gen.Choose(0, 255).Select(b => (byte)b)));
        Gen<(byte[] Bytes, int[] Cuts)> cases =
            from content in bytes.ArrayOf()
            from cuts in Gen.Choose(1, 9).ArrayOf()
            select (content, cuts);
        ForAll(cases, 1_000, static c =>
        {
            (List<string> whole, bool wholeRefused) = Frames([c.Bytes]);
            (List<string> pieces, bool piecesRefused) = Frames(Cut(c.Bytes, c.Cuts));
            Assert.Equal(whole, pieces);
            Assert.Equal(wholeRefused, piecesRefused);
            Assert.Equal(Expected(c.Bytes), (string.Join(' ', whole), wholeRefused));
        });
    }

    [Fact]
    public void Any_bytes_and_any_limit_give_an_answer_that_fits_the_bytes()
    {
        Gen<(byte[] Bytes, long Limit)> cases =
            from content in Gen.Choose(0, 255).Select(b => (byte)b).ArrayOf()
            from limit in Gen.OneOf(Gen.Choose(0, 300).Select(l => (long)l), Gen.Constant(StreamFraming.LargestPayload), Gen.Constant(0L))
            select (content, limit);
        ForAll(cases, 1_000, static c =>
        {
            FrameScan scan = StreamFraming.Scan(c.Bytes, c.Limit);
            int left = c.Bytes.Length - scan.Consumed;
            Assert.InRange(scan.Consumed, scan.Frames * StreamFraming.HeaderSize, c.Bytes.Length);
            if (left < StreamFraming.HeaderSize)
            {
                Assert.Equal((0, false, 0u), (scan.NextFrameSize, scan.IsBroken, scan.Announced));
                return;
            }

            uint announced = BinaryPrimitives.ReadUInt32BigEndian(c.Bytes.AsSpan(scan.Consumed));
            Assert.Equal(announced, scan.Announced);
            Assert.Equal(announced > c.Limit, scan.IsBroken);
            if (!scan.IsBroken)
            {
                Assert.Equal(announced + StreamFraming.HeaderSize, (uint)scan.NextFrameSize);
                Assert.True(left < scan.NextFrameSize);
            }
        });
    }

    [Theory]
    [InlineData(100, 100, false)]
    [InlineData(100, 101, true)]
    [InlineData(0, 0, false)]
    [InlineData(0, 1, true)]
    [InlineData(8_388_608, 8_388_608, false)]
    [InlineData(8_388_608, 8_388_609, true)]
    public void A_payload_at_the_limit_is_taken_and_one_byte_more_refused(long limit, int length, bool refused)
    {
        var header = new byte[4];
        StreamFraming.WriteHeader(header, length);
        FrameScan scan = StreamFraming.Scan(header, limit);
        Assert.Equal(refused, scan.IsBroken);
        Assert.Equal((uint)length, scan.Announced);
    }

    [Theory]
    [InlineData(0xFFFF_FFFF)]
    [InlineData(0x8000_0000)]
    [InlineData(0x7FFF_FFFF)]
    public void A_length_beyond_what_an_array_holds_is_refused_whatever_the_limit(uint length)
    {
        var header = new byte[4];
        BinaryPrimitives.WriteUInt32BigEndian(header, length);
        foreach (long option in (long[])[-1, 0, long.MaxValue])
        {
            FrameScan scan = StreamFraming.Scan(header, StreamFraming.EffectiveLimit(option));
            Assert.True(scan.IsBroken);
            Assert.Equal(length, scan.Announced);
            Assert.Equal((0, 0, 0), (scan.Consumed, scan.Frames, scan.NextFrameSize));
        }
    }

    [Fact]
    public void Frames_before_a_refused_one_are_still_found()
    {
        byte[] bytes = [0, 0, 0, 1, 7, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 1, 2, 3];
        Assert.Equal(new FrameScan(9, 2, 0, IsBroken: true, 0xFFFF_FFFF), StreamFraming.Scan(bytes, Limit));
    }

    [Theory]
    [InlineData(-1, StreamFraming.DefaultMaxMessageSize)]
    [InlineData(long.MinValue, StreamFraming.DefaultMaxMessageSize)]
    [InlineData(0, 0)]
    [InlineData(17, 17)]
    public void The_limit_of_an_option_is_itself_or_the_default(long option, long limit) =>
        Assert.Equal(limit, StreamFraming.EffectiveLimit(option));

    [Fact]
    public void A_written_frame_is_read_back()
    {
        byte[] payload = Pattern(300, 1);
        var frame = new byte[StreamFraming.HeaderSize + payload.Length];
        StreamFraming.WriteFrame(frame, payload);
        Assert.Equal([0, 0, 1, 44], frame[..4]);
        Assert.Equal(payload.Length, StreamFraming.ReadLength(frame));
        Assert.Equal(new FrameScan(frame.Length, 1, 0, IsBroken: false, 0), StreamFraming.Scan(frame, 300));
    }

    /// <summary>Reads as a connection does: the rest of an incomplete frame waits for the next piece.</summary>
    private static (List<string> Frames, bool Refused) Frames(IEnumerable<byte[]> pieces)
    {
        List<string> frames = [];
        byte[] rest = [];
        foreach (byte[] piece in pieces)
        {
            byte[] bytes = [.. rest, .. piece];
            FrameScan scan = StreamFraming.Scan(bytes, Limit);
            int at = 0;
            for (int i = 0; i < scan.Frames; i++)
            {
                int length = StreamFraming.ReadLength(bytes.AsSpan(at));
                frames.Add(Convert.ToHexString(bytes.AsSpan(at + StreamFraming.HeaderSize, length)) + ";");
                at += StreamFraming.HeaderSize + length;
            }

            Assert.Equal(scan.Consumed, at);
            if (scan.IsBroken)
            {
                return (frames, true);
            }

            rest = bytes[at..];
        }

        return (frames, false);
    }

    /// <summary>The rule written down a second time, byte by byte.</summary>
    private static (string Frames, bool Refused) Expected(byte[] bytes)
    {
        List<string> frames = [];
        for (int at = 0; bytes.Length - at >= 4;)
        {
            long length = ((long)bytes[at] << 24) + (bytes[at + 1] << 16) + (bytes[at + 2] << 8) + bytes[at + 3];
            if (length > Limit)
            {
                return (string.Join(' ', frames), true);
            }

            if (at + 4 + length > bytes.Length)
            {
                break;
            }

            frames.Add(Convert.ToHexString(bytes, at + 4, (int)length) + ";");
            at += 4 + (int)length;
        }

        return (string.Join(' ', frames), false);
    }

    private static IEnumerable<byte[]> Cut(byte[] bytes, int[] lengths)
    {
        int at = 0;
        foreach (int length in lengths)
        {
            int end = Math.Min(bytes.Length, at + length);
            yield return bytes[at..end];
            at = end;
        }

        yield return bytes[at..];
    }
}
