namespace Net.Zlink.Protocol.Zmp;

/// <summary>
/// HEARTBEAT_ACK: 03, context length, context. Matched to no HEARTBEAT, may come unrequested (docs/protocol.md sections 8 and 14).
/// </summary>
internal static class ZmpHeartbeatAck
{
    public const int LargestAnswer = ZmpFrame.HeaderSize + FixedBody + ZmpHeartbeat.LargestContext;

    private const int FixedBody = 2;

    public static int Write(Span<byte> destination, ReadOnlySpan<byte> context)
    {
        int bodyLength = FixedBody + context.Length;
        ZmpFrame.WriteHeader(destination, ZmpFlags.Control, (uint)bodyLength);
        Span<byte> body = destination.Slice(ZmpFrame.HeaderSize, bodyLength);
        body[0] = ZmpControl.HeartbeatAck;
        body[1] = checked((byte)context.Length);
        context.CopyTo(body[FixedBody..]);
        return ZmpFrame.HeaderSize + bodyLength;
    }

    public static bool TryParse(ReadOnlySpan<byte> body, out ReadOnlySpan<byte> context, out ZmpFault fault)
    {
        context = default;
        if (body.Length < FixedBody)
        {
            fault = ZmpFault.HeartbeatAckTooShort;
            return false;
        }

        if (body.Length != FixedBody + body[1])
        {
            fault = ZmpFault.HeartbeatAckInvalid;
            return false;
        }

        context = body[FixedBody..];
        fault = default;
        return true;
    }
}
