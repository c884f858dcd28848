using FsCheck;
using FsCheck.Fluent;
using Net.Zlink.Protocol.Zmp;
using Xunit;
using static Net.Zlink.Tests.Engine.EngineFixture;

namespace Net.Zlink.Tests.Protocol.Zmp;

public sealed class ZmpHelloTests
{
    [Theory]
    [InlineData(5, "4131", "5A01020000000005 01 05 02 4131")]
    [InlineData(6, "4231", "5A01020000000005 01 06 02 4231")]
    [InlineData(10, "", "5A01020000000003 01 0A 00")]
    public void A_HELLO_says_type_and_routing_id(byte type, string routingId, string expected)
    {
        var buffer = new byte[ZmpHello.LargestFrame];
        int length = ZmpHello.Write(buffer, (ZmpSocketType)type, ZmpFixture.Hex(routingId));
        Assert.Equal(ZmpFixture.Plain(expected), ZmpFixture.Written(buffer, length));
    }

    // To a DEALER. The order of the checks shows where two things are wrong.
    [Theory]
    [InlineData("01050452415731", null)]
    [InlineData("010500", null)]
    [InlineData("01060452415731", null)]
    [InlineData("0105050001020304", null)]
    [InlineData("0105", "7F hello too short")]
    [InlineData("", "7F hello too short")]
    [InlineData("040500", "7F missing hello")]
    [InlineData("040100", "7F missing hello")]
    [InlineData("000500", "7F missing hello")]
    [InlineData("01010452415731", "05 socket type mismatch")]
    [InlineData("01030452415731", "05 socket type mismatch")]
    [InlineData("010B0452415731", "05 socket type mismatch")]
    [InlineData("01FF0452415731", "05 socket type mismatch")]
    [InlineData("01010352415731", "05 socket type mismatch")]
    [InlineData("01050352415731", "7F hello identity mismatch")]
    [InlineData("01050552415731", "7F hello identity mismatch")]
    [InlineData("0105FF", "7F hello identity mismatch")]
    public void A_HELLO_is_checked_for_control_type_then_socket_type_then_length(string body, string? expected)
    {
        Assert.Equal(expected, ZmpHello.FaultOf(ZmpFixture.Hex(body), ZmpSocketType.Dealer) is { } fault ? ZmpFixture.Text(fault) : null);
    }

    [Fact]
    public void A_HELLO_longer_than_any_routing_id_is_refused()
    {
        byte[] body = [1, 5, 255, .. new byte[256]];
        Assert.Null(ZmpHello.FaultOf(body.AsSpan(0, ZmpHello.LargestBody), ZmpSocketType.Dealer));
        Assert.Equal(ZmpFault.HelloTooLarge, ZmpHello.FaultOf(body, ZmpSocketType.Dealer));
    }

    [Fact]
    public void A_written_HELLO_is_read_back_by_those_who_may_talk_to_it()
    {
        Gen<(ZmpSocketType Type, ZmpSocketType Own, byte[] Id)> hellos =
            from type in Gen.Elements(ZmpFixture.Types)
            from own in Gen.Elements(ZmpFixture.Types)
            from length in Gen.Frequency((4, Gen.Choose(0, 20)), (1, Gen.Choose(0, 255)), (1, Gen.Constant(255)))
            from id in Gen.Choose(0, 255).Select(static b => (byte)b).ArrayOf(length)
            select (type, own, id);
        ForAll(hellos, 500, static h =>
        {
            var buffer = new byte[ZmpHello.LargestFrame];
            ReadOnlySpan<byte> frame = buffer.AsSpan(0, ZmpHello.Write(buffer, h.Type, h.Id));
            ReadOnlySpan<byte> body = ZmpFixture.Next(ref frame, out ZmpFlags flags);
            ZmpFault? fault = ZmpHello.FaultOf(body, h.Own);
            Assert.Equal(ZmpFlags.Control, flags);
            Assert.True(frame.IsEmpty);
            Assert.Equal(h.Own.IsCompatibleWith((byte)h.Type) ? null : ZmpErrorCode.SocketTypeMismatch, fault?.Code);
            Assert.Equal((byte)h.Type, body[1]);
            Assert.Equal(h.Id, ZmpHello.RoutingIdOf(body));
        });
    }

    [Fact]
    public void A_routing_id_over_255_bytes_is_not_written() =>
        Assert.Throws<OverflowException>(static () => ZmpHello.Write(new byte[1_000], ZmpSocketType.Pair, new byte[256]));
}
