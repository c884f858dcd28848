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
        ZmpFrame.WriteHeader(destination, ZmpFlags.Control, (uint)bodyLength);
        Span<byte> body = destination.Slice(ZmpFrame.HeaderSize, bodyLength);
        body[0] = ZmpControl.Error;
        body[1] = (byte)fault.Code;
        body[2] = checked((byte)fault.Text.Length);
        Encoding.ASCII.GetBytes(fault.Text, body[FixedBody..]);
        return ZmpFrame.HeaderSize + bodyLength;
    }

    /// <summary>The reason is the peer's text: decide by the code, and escape the reason in logs.</summary>
    public static bool TryParse(ReadOnlySpan<byte> body, out ZmpErrorCode code, out ReadOnlySpan<byte> reason, out ZmpFault fault)
    {
        code = default;
        reason = default;
        if (body.Length < FixedBody)
        {
            fault = ZmpFault.ErrorFrameTooShort;
            return false;
        }

        if (body.Length < FixedBody + body[2])
        {
            fault = ZmpFault.ErrorFrameInvalid;
            return false;
        }

        code = (ZmpErrorCode)body[1];
        reason = body.Slice(FixedBody, body[2]);
        fault = default;
        return true;
    }
}
