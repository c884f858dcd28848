using FsCheck;
using FsCheck.Fluent;
using Net.Zlink.Protocol.Zmp;
using Xunit;
using static Net.Zlink.Tests.Engine.EngineFixture;

namespace Net.Zlink.Tests.Protocol.Zmp;

public sealed class ZmpFaultTests
{
    private static readonly (ZmpFault Fault, string Frame)[] Table =
    [
        (ZmpFault.InvalidMagic, "5a01020000000010 05010d 696e76616c6964206d61676963"),
        (ZmpFault.VersionMismatch, "5a01020000000013 050210 76657273696f6e206d69736d61746368"),
        (ZmpFault.FlagsInvalid, "5a01020000000010 05030d 666c61677320696e76616c6964"),
        (ZmpFault.BodyTooLarge, "5a01020000000011 05040e 626f647920746f6f206c61726765"),
        (ZmpFault.HelloTooLarge, "5a01020000000012 05040f 68656c6c6f20746f6f206c61726765"),
        (ZmpFault.SocketTypeMismatch, "5a01020000000017 050514 736f636b65742074797065206d69736d61746368"),
        (ZmpFault.HandshakeTimeout, "5a01020000000014 050611 68616e647368616b652074696d656f7574"),
        (ZmpFault.HelloTooShort, "5a01020000000012 057f0f 68656c6c6f20746f6f2073686f7274"),
        (ZmpFault.MissingHello, "5a01020000000010 057f0d 6d697373696e672068656c6c6f"),
        (ZmpFault.HelloIdentityMismatch, "5a0102000000001a 057f17 68656c6c6f206964656e74697479206d69736d61746368"),
        (ZmpFault.DataBeforeReady, "5a01020000000014 057f11 64617461206265666f7265207265616479"),
        (ZmpFault.DuplicateReady, "5a01020000000012 057f0f 6475706c6963617465207265616479"),
        (ZmpFault.ReadyMetadataInvalid, "5a01020000000019 057f16 7265616479206d6574616461746120696e76616c6964"),
        (ZmpFault.UnknownControl, "5a01020000000012 057f0f 756e6b6e6f776e20636f6e74726f6c"),
        (ZmpFault.HeartbeatTooShort, "5a01020000000016 057f13 68656172746265617420746f6f2073686f7274"),
        (ZmpFault.HeartbeatContextTooLong, "5a01020000000019 057f16 6865617274626561742063747820746f6f206c6f6e67"),
        (ZmpFault.HeartbeatLengthMismatch, "5a0102000000001c 057f19 686561727462656174206c656e677468206d69736d61746368"),
        (ZmpFault.HeartbeatAckTooShort, "5a0102000000001a 057f17 6865617274626561742061636b20746f6f2073686f7274"),
        (ZmpFault.HeartbeatAckInvalid, "5a01020000000018 057f15 6865617274626561742061636b20696e76616c6964"),
        (ZmpFault.ErrorFrameTooShort, "5a01020000000018 057f15 6572726f72206672616d6520746f6f2073686f7274"),
        (ZmpFault.ErrorFrameInvalid, "5a01020000000016 057f13 6572726f72206672616d6520696e76616c6964"),
        (ZmpFault.RoutingIdTakenOver, "5a01020000000018 051015 726f7574696e672069642074616b656e206f766572"),
        (ZmpFault.HeartbeatTimeout, "5a01020000000011 057f0e 696e7465726e616c206572726f72"),
    ];

    public static TheoryData<int> Rows => [.. Enumerable.Range(0, Table.Length)];

    [Theory]
    [MemberData(nameof(Rows))]
    public void Each_fault_is_written_with_its_code_and_its_text(int row)
    {
        (ZmpFault fault, string frame) = Table[row];
        var buffer = new byte[ZmpErrorFrame.LargestFrame];
        Assert.Equal(ZmpFixture.Plain(frame), ZmpFixture.Written(buffer, ZmpErrorFrame.Write(buffer, fault)));
        Assert.False(fault.FailsHandshakeAsProtocol);
        bool timeout = fault == ZmpFault.HandshakeTimeout || fault == ZmpFault.HeartbeatTimeout;
        Assert.Equal((timeout, timeout), (fault.IsTimeout, fault.ConnecterTriesAgain));
    }

    [Fact]
    public void A_wrong_header_of_a_HELLO_looks_the_same_on_the_wire_and_is_told_apart_by_the_monitor()
    {
        ZmpFault fault = ZmpFault.InvalidMagic.InHello();
        Assert.True(fault.FailsHandshakeAsProtocol);
        Assert.Equal(ZmpFixture.Text(ZmpFault.InvalidMagic), ZmpFixture.Text(fault));
    }

    [Theory]
    [InlineData(0x00, "7F internal error")]
    [InlineData(0x01, "01 invalid magic")]
    [InlineData(0x02, "02 version mismatch")]
    [InlineData(0x03, "03 flags invalid")]
    [InlineData(0x04, "04 body too large")]
    [InlineData(0x05, "05 socket type mismatch")]
    [InlineData(0x06, "06 handshake timeout")]
    [InlineData(0x07, "07 unknown error")]
    [InlineData(0x10, "10 routing id taken over")]
    [InlineData(0x42, "42 unknown error")]
    [InlineData(0x7E, "7E unknown error")]
    [InlineData(0x7F, "7F internal error")]
    [InlineData(0x80, "80 unknown error")]
    [InlineData(0xFF, "FF unknown error")]
    public void A_received_code_is_answered_with_itself_and_its_standard_text(byte received, string answer)
    {
        var fault = ZmpFault.AnswerTo((ZmpErrorCode)received);
        Assert.Equal(answer, ZmpFixture.Text(fault));
        Assert.Equal(ZmpFaultOrigin.Received, fault.Origin);
        Assert.False(fault.IsTimeout);
        Assert.Equal(received is 0x06 or 0x7F, fault.ConnecterTriesAgain);
    }

    [Theory]
    [InlineData("05", "7F error frame too short")]
    [InlineData("0504", "7F error frame too short")]
    [InlineData("050400", "04 body too large")]
    [InlineData("05040161", "04 body too large")]
    [InlineData("0504017879", "04 body too large")]
    [InlineData("05040978 79", "7F error frame invalid")]
    [InlineData("050401", "7F error frame invalid")]
    public void A_received_ERROR_has_a_code_and_a_reason_that_ends_within_the_body(string body, string expected) =>
        Assert.Equal(expected, ZmpFixture.Text(ZmpErrorFrame.FaultOf(ZmpFixture.Hex(body))));

    [Fact]
    public void A_written_ERROR_is_read_back()
    {
        Gen<(byte Code, string Reason)> errors =
            from code in Gen.Choose(0, 255)
            from length in Gen.Choose(0, 255)
            from reason in Gen.Choose(32, 126).Select(static c => (char)c).ArrayOf(length)
            select ((byte)code, new string(reason));
        ForAll(errors, 300, static e =>
        {
            var buffer = new byte[ZmpErrorFrame.LargestFrame];
            int length = ZmpErrorFrame.Write(buffer, new ZmpFault((ZmpErrorCode)e.Code, e.Reason));
            ReadOnlySpan<byte> frame = buffer.AsSpan(0, length);
            ZmpFault read = ZmpErrorFrame.FaultOf(ZmpFixture.Next(ref frame, out _));
            Assert.Equal(((ZmpErrorCode)e.Code, e.Reason), (read.PeersCode, read.PeersWords ?? ""));
            Assert.True(frame.IsEmpty);
        });
    }
}
