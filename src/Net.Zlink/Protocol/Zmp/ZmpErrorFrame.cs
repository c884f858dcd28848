using System.Text;

namespace Net.Zlink.Protocol.Zmp;

/// <summary>ERROR: 05, code, reason length, reason. A side's last frame (docs/protocol.md sections 8 and 13).</summary>
internal static class ZmpErrorFrame
{
    public const int LargestFrame = ZmpFrame.HeaderSize + FixedBody + byte.MaxValue;

    private const int FixedBody = 3;

    public static int Write(Span<byte> destination, ZmpFault fault)
    {
        int bodyLength = FixedBody + fault.Text.Length;
        Span<byte> body = ZmpControl.Begin(destination, ZmpControl.Error, bodyLength);
        body[1] = (byte)fault.Code;
        body[2] = checked((byte)fault.Text.Length);
        Encoding.ASCII.GetBytes(fault.Text, body[FixedBody..]);
        return ZmpFrame.HeaderSize + bodyLength;
    }

    /// <summary>What a received one ends the connection with. The reason is the peer's text: decide by the code.</summary>
    public static ZmpFault FaultOf(ReadOnlySpan<byte> body) => body.Length switch
    {
        < FixedBody => ZmpFault.ErrorFrameTooShort,
        _ when body.Length < FixedBody + body[2] => ZmpFault.ErrorFrameInvalid,
        _ => ZmpFault.AnswerTo((ZmpErrorCode)body[1], body.Slice(FixedBody, body[2])),
    };
}
