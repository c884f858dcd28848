using FsCheck;
using FsCheck.Fluent;
using Net.Zlink.Protocol.Zmp;
using Xunit;
using static Net.Zlink.Tests.Engine.EngineFixture;

namespace Net.Zlink.Tests.Protocol.Zmp;

public sealed class ZmpHeartbeatTests
{
    [Theory]
    [InlineData(10, "5A01020000000004 02 000A 00")]
    [InlineData(65535, "5A01020000000004 02 FFFF 00")]
    public void A_HEARTBEAT_says_its_ttl(int ttl, string expected)
    {
        var buffer = new byte[ZmpHeartbeat.FrameSize];
        ZmpHeartbeat.Write(buffer, (ushort)ttl);
        Assert.Equal(ZmpFixture.Plain(expected), ZmpFixture.Written(buffer, buffer.Length));
    }

    [Theory]
    [InlineData("", "5A01020000000002 03 00")]
    [InlineData("63", "5A01020000000003 03 01 63")]
    public void A_HEARTBEAT_ACK_repeats_the_context(string context, string expected)
    {
        var buffer = new byte[ZmpHeartbeatAck.LargestAnswer];
        Assert.Equal(ZmpFixture.Plain(expected), ZmpFixture.Written(buffer, ZmpHeartbeatAck.Write(buffer, ZmpFixture.Hex(context))));
    }

    [Theory]
    [InlineData("02", null, false)]
    [InlineData("02000000", null, true)]
    [InlineData("0200000163", null, true)]
    [InlineData("020000 10 000102030405060708090a0b0c0d0e0f", null, true)]
    [InlineData("0200", "7F heartbeat too short", false)]
    [InlineData("020000", "7F heartbeat too short", false)]
    [InlineData("020000 11 0000000000000000000000000000000000", "7F heartbeat ctx too long", false)]
    [InlineData("020000 11", "7F heartbeat ctx too long", false)]
    [InlineData("020000 FF", "7F heartbeat ctx too long", false)]
    [InlineData("020000 01", "7F heartbeat length mismatch", false)]
    [InlineData("020000 00 63", "7F heartbeat length mismatch", false)]
    [InlineData("020000 02 63", "7F heartbeat length mismatch", false)]
    public void A_HEARTBEAT_is_checked_for_its_length_and_answered_unless_it_is_one_byte(string body, string? expected, bool answered)
    {
        ZmpFault? fault = ZmpHeartbeat.FaultOf(ZmpFixture.Hex(body));
        Assert.Equal(expected, fault is { } found ? ZmpFixture.Text(found) : null);
        Assert.Equal(answered, fault is null && new ZmpHeartbeat(ZmpFixture.Hex(body)).IsToBeAnswered);
    }

    [Theory]
    [InlineData("0300", null)]
    [InlineData("030163", null)]
    [InlineData("03140000000000000000000000000000000000000000", null)]
    [InlineData("03", "7F heartbeat ack too short")]
    [InlineData("0303", "7F heartbeat ack invalid")]
    [InlineData("030063", "7F heartbeat ack invalid")]
    [InlineData("03FF63", "7F heartbeat ack invalid")]
    public void A_HEARTBEAT_ACK_is_checked_for_its_length(string body, string? expected)
    {
        ZmpFault? fault = ZmpHeartbeatAck.FaultOf(ZmpFixture.Hex(body));
        Assert.Equal(expected, fault is { } found ? ZmpFixture.Text(found) : null);
    }

    [Fact]
    public void A_HEARTBEAT_is_read_and_so_is_its_answer()
    {
        Gen<(ushort Ttl, byte[] Context)> heartbeats =
            from ttl in Gen.Choose(0, ushort.MaxValue)
            from length in Gen.Choose(0, 16)
            from context in Gen.Choose(0, 255).Select(static b => (byte)b).ArrayOf(length)
            select ((ushort)ttl, context);
        ForAll(heartbeats, 500, static h =>
        {
            byte[] body = [ZmpControl.Heartbeat, (byte)(h.Ttl >> 8), (byte)h.Ttl, (byte)h.Context.Length, .. h.Context];
            Assert.Null(ZmpHeartbeat.FaultOf(body));
            var read = new ZmpHeartbeat(body);
            Assert.True(read.IsToBeAnswered);
            Assert.Equal(h.Ttl, read.TtlTenths);
            Assert.Equal(h.Context, read.Context);

            var answer = new byte[ZmpHeartbeatAck.LargestAnswer];
            ReadOnlySpan<byte> ack = answer.AsSpan(0, ZmpHeartbeatAck.Write(answer, read.Context));
            ReadOnlySpan<byte> answered = ZmpFixture.Next(ref ack, out _);
            Assert.Null(ZmpHeartbeatAck.FaultOf(answered));
            Assert.Equal(h.Context, answered[2..]);
        });
    }

    [Fact]
    public void An_unasked_ACK_may_carry_255_bytes_of_context()
    {
        byte[] body = [3, 255, .. Pattern(255, 1)];
        Assert.Null(ZmpHeartbeatAck.FaultOf(body));
    }
}
