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
        Span<byte> body = ZmpControl.Begin(destination, ZmpControl.HeartbeatAck, bodyLength);
        body[1] = checked((byte)context.Length);
        context.CopyTo(body[FixedBody..]);
        return ZmpFrame.HeaderSize + bodyLength;
    }

    public static ZmpFault? FaultOf(ReadOnlySpan<byte> body) => body.Length switch
    {
        < FixedBody => ZmpFault.HeartbeatAckTooShort,
        _ when body.Length != FixedBody + body[1] => ZmpFault.HeartbeatAckInvalid,
        _ => null,
    };
}
