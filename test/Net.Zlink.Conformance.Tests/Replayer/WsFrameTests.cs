using Net.Zlink.Conformance.Tests.Replay.WebSocket;
using Xunit;

namespace Net.Zlink.Conformance.Tests.Replayer;

/// <summary>The scripted peer's own frames, against the examples of RFC 6455, section 5.7, and at the edges of their lengths.</summary>
public sealed class WsFrameTests
{
    [Theory]
    [InlineData("810548656c6c6f", true, 1, false, "48656c6c6f")]
    [InlineData("818537fa213d7f9f4d5158", true, 1, true, "48656c6c6f")]
    [InlineData("010348656c", false, 1, false, "48656c")]
    [InlineData("80026c6f", true, 0, false, "6c6f")]
    [InlineData("890548656c6c6f", true, 9, false, "48656c6c6f")]
    [InlineData("8a8537fa213d7f9f4d5158", true, 10, true, "48656c6c6f")]
    [InlineData("82861122334411223346794b", true, 2, true, "000000026869")]
    public void The_standards_examples_are_read_and_written(string hex, bool isFinal, int opcode, bool isMasked, string payload)
    {
        byte[] bytes = Convert.FromHexString(hex);
        WsFrame frame = WsFrame.TryRead(bytes)!;
        Assert.Equal((isFinal, 0, (WsOpcode)opcode, isMasked, false),
            (frame.IsFinal, frame.Reserved, frame.Opcode, frame.IsMasked, frame.IsLengthPadded));
        Assert.Equal(payload, Convert.ToHexStringLower(frame.Payload));
        Assert.Equal(bytes, WsFrame.Write(frame.Opcode, frame.Payload, isMasked ? bytes[2..6] : null, isFinal));
    }

    [Theory]
    [InlineData(0, 2)]
    [InlineData(125, 2)]
    [InlineData(126, 4)]
    [InlineData(65535, 4)]
    [InlineData(65536, 10)]
    public void A_length_takes_as_few_bytes_as_it_can_and_a_frame_is_whole_with_its_last_byte(int length, int header)
    {
        byte[] payload = new byte[length];
        new Random(length).NextBytes(payload);
        foreach (byte[]? mask in new byte[]?[] { null, [1, 2, 3, 4] })
        {
            byte[] bytes = WsFrame.Write(WsOpcode.Binary, payload, mask);
            Assert.Equal(header + (mask?.Length ?? 0) + length, bytes.Length);
            Assert.Null(WsFrame.TryRead(bytes.AsSpan(..^1)));
            WsFrame frame = WsFrame.TryRead([.. bytes, 0x82])!;
            Assert.Equal(payload, frame.Payload);
            Assert.Equal(bytes.Length, frame.Size);
            Assert.False(frame.IsLengthPadded);
        }
    }

    [Fact]
    public void A_length_that_nobody_has_sent_is_no_frame() =>
        Assert.Null(WsFrame.TryRead(Convert.FromHexString("82ffffffffffffffffff11223344")));

    [Theory]
    [InlineData("827e000161")]
    [InlineData("827f000000000000000161")]
    public void A_padded_length_is_seen(string hex) => Assert.True(WsFrame.TryRead(Convert.FromHexString(hex))!.IsLengthPadded);

    [Theory]
    [InlineData("c28911223344", true, true)]
    [InlineData("c289112233", true, false)]
    [InlineData("820900000005", true, true)]
    [InlineData("8209000000", true, false)]
    [InlineData("828911223344", true, false)]
    [InlineData("8298", false, true)]
    [InlineData("8218", false, false)]
    [InlineData("c218", false, true)]
    [InlineData("82", false, false)]
    public void A_frame_header_that_breaches_the_rules_of_its_direction_is_recognised(string hex, bool isMasked, bool expected)
        => Assert.Equal(expected, WsFrame.IsBreach(Convert.FromHexString(hex), isMasked));

    [Fact]
    public void Reserved_bits_are_read_and_written()
    {
        byte[] bytes = WsFrame.Write(WsOpcode.Binary, [1], reserved: 5);
        Assert.Equal(0xD2, bytes[0]);
        Assert.Equal(5, WsFrame.TryRead(bytes)!.Reserved);
    }

    [Fact]
    public void The_accept_of_the_standards_example_is_computed() =>
        Assert.Equal("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=", WsUpgrade.Accept("dGhlIHNhbXBsZSBub25jZQ=="));

    [Theory]
    [InlineData("dGhlIHNhbXBsZSBub25jZQ==", true)]
    [InlineData("dGhlIHNhbXBsZSBub25j", false)]
    [InlineData("dGhlIHNhbXBsZSBub25jZQ", false)]
    [InlineData("", false)]
    [InlineData("dGhlIHNhbXBsZSBub25jZXg=", false)]
    public void A_key_is_the_base64_of_16_bytes(string key, bool expected) => Assert.Equal(expected, WsUpgrade.IsKey(key));
}
