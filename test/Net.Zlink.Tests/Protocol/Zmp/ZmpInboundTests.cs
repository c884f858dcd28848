using Net.Zlink.Protocol.Zmp;
using Xunit;

namespace Net.Zlink.Tests.Protocol.Zmp;

public sealed class ZmpInboundTests
{
    // Behind HELLO.
    [Theory]
    [InlineData(0x00, "6869", "7F data before ready")]
    [InlineData(0x01, "6869", "7F data before ready")]
    [InlineData(0x04, "6964", "7F data before ready")]
    [InlineData(0x05, "6964", "7F data before ready")]
    [InlineData(0x08, "74", "7F data before ready")]
    [InlineData(0x10, "74", "7F data before ready")]
    [InlineData(0x02, "", "7F unknown control")]
    [InlineData(0x02, "00", "7F unknown control")]
    [InlineData(0x02, "06", "7F unknown control")]
    [InlineData(0x02, "FF", "7F unknown control")]
    [InlineData(0x02, "01050452415731", "7F unknown control")]
    [InlineData(0x02, "0400", "7F ready metadata invalid")]
    [InlineData(0x02, "05051400", "7F error frame invalid")]
    [InlineData(0x02, "050500", "05 socket type mismatch")]
    [InlineData(0x02, "04", "ReadyAccepted")]
    [InlineData(0x02, "04 0141 00000001 62", "ReadyAccepted")]
    [InlineData(0x02, "0200000163", "Heartbeat")]
    [InlineData(0x02, "02", "Heartbeat")]
    [InlineData(0x02, "0300", "HeartbeatAck")]
    public void Between_HELLO_and_READY_only_heartbeats_and_ERROR_may_come(byte flags, string body, string expected)
    {
        ZmpInbound inbound = AfterHello();
        Assert.Equal(expected, Take(ref inbound, flags, body));
    }

    [Theory]
    [InlineData(0x00, "6869", "Data")]
    [InlineData(0x00, "", "Data")]
    [InlineData(0x01, "6869", "Data")]
    [InlineData(0x04, "6964", "ToDrop")]
    [InlineData(0x05, "6964", "ToDrop")]
    [InlineData(0x08, "74", "Subscribe")]
    [InlineData(0x10, "", "Cancel")]
    [InlineData(0x02, "", "7F unknown control")]
    [InlineData(0x02, "06", "7F unknown control")]
    [InlineData(0x02, "01050452415731", "7F unknown control")]
    [InlineData(0x02, "04", "7F duplicate ready")]
    [InlineData(0x02, "0400", "7F duplicate ready")]
    [InlineData(0x02, "0504", "7F error frame too short")]
    [InlineData(0x02, "05040877 68617465766572", "04 body too large")]
    [InlineData(0x02, "054200", "42 unknown error")]
    [InlineData(0x02, "050000", "7F internal error")]
    [InlineData(0x02, "02000000", "Heartbeat")]
    [InlineData(0x02, "02", "Heartbeat")]
    [InlineData(0x02, "0200", "7F heartbeat too short")]
    [InlineData(0x02, "03", "7F heartbeat ack too short")]
    [InlineData(0x02, "030163", "HeartbeatAck")]
    [InlineData(0x03, "04", "03 flags invalid")]
    [InlineData(0x20, "04", "03 flags invalid")]
    public void After_READY_every_frame_is_what_its_flags_say(byte flags, string body, string expected)
    {
        ZmpInbound inbound = AfterHello();
        Assert.Equal("ReadyAccepted", Take(ref inbound, 2, "04"));
        Assert.Equal(expected, Take(ref inbound, flags, body));
    }

    [Theory]
    [InlineData(0x02, "01050452415731", "HelloAccepted")]
    [InlineData(0x02, "010600", "HelloAccepted")]
    [InlineData(0x02, "04", "7F hello too short")]
    [InlineData(0x02, "", "7F hello too short")]
    [InlineData(0x02, "050500", "7F missing hello")]
    [InlineData(0x02, "02000000", "7F missing hello")]
    [InlineData(0x02, "010200", "05 socket type mismatch")]
    [InlineData(0x00, "01050452415731", "03 flags invalid")]
    public void The_first_frame_must_be_a_HELLO(byte flags, string body, string expected)
    {
        var inbound = new ZmpInbound(ZmpSocketType.Dealer, maxMessageSize: -1);
        Assert.Equal(expected, Take(ref inbound, flags, body));
    }

    [Fact]
    public void A_received_ERROR_is_told_apart_from_a_violation()
    {
        ZmpInbound inbound = AfterHello();
        inbound.Next(ZmpFixture.Control("050600"), out _, out _);
        ZmpFault fault = inbound.Fault;
        Assert.Equal((ZmpErrorCode.HandshakeTimeout, ZmpFaultOrigin.Received, false), (fault.Code, fault.Origin, fault.IsTimeout));
    }

    private static ZmpInbound AfterHello()
    {
        var inbound = new ZmpInbound(ZmpSocketType.Dealer, maxMessageSize: -1);
        Assert.Equal("HelloAccepted", Take(ref inbound, 2, "01050452415731"));
        return inbound;
    }

    private static string Take(ref ZmpInbound inbound, byte flags, string body)
    {
        byte[] frame = ZmpFixture.Frame(flags, ZmpFixture.Hex(body));
        ZmpInboundKind kind = inbound.Next(frame, out ZmpFlags read, out int size);
        Assert.Equal(kind == ZmpInboundKind.Fault, inbound.Fault != default);
        if (kind == ZmpInboundKind.Fault)
        {
            return ZmpFixture.Text(inbound.Fault);
        }

        Assert.Equal((flags, frame.Length), ((byte)read, size));
        return kind.ToString();
    }
}
