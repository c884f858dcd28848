using System.Buffers.Binary;

namespace Net.Zlink.Protocol.Zmp;

/// <summary>HEARTBEAT: 02, ttl in tenths of a second (u16), context length, context (docs/protocol.md sections 8 and 14).</summary>
internal readonly ref struct ZmpHeartbeat(ReadOnlySpan<byte> body)
{
    public const int LargestContext = 16;

    public const int LargestFrame = ZmpFrame.HeaderSize + FixedBody + LargestContext;

    private const int FixedBody = 4;

    private readonly ReadOnlySpan<byte> _body = body;

    /// <summary>How long the sender may be silent, in tenths of a second; 0: no limit.</summary>
    public ushort TtlTenths => IsToBeAnswered ? BinaryPrimitives.ReadUInt16BigEndian(_body[1..]) : (ushort)0;

    public ReadOnlySpan<byte> Context => IsToBeAnswered ? _body[FixedBody..] : default;

    /// <summary>The single byte 02 has neither a reply nor a ttl.</summary>
    public bool IsToBeAnswered => _body.Length >= FixedBody;

    public static int Write(Span<byte> destination, ushort ttlTenths, ReadOnlySpan<byte> context)
    {
        if (context.Length > LargestContext)
        {
            throw new ArgumentException($"A heartbeat's context has at most {LargestContext} bytes.", nameof(context));
        }

        int bodyLength = FixedBody + context.Length;
        Span<byte> body = ZmpControl.Begin(destination, ZmpControl.Heartbeat, bodyLength);
        BinaryPrimitives.WriteUInt16BigEndian(body[1..], ttlTenths);
        body[3] = (byte)context.Length;
        context.CopyTo(body[FixedBody..]);
        return ZmpFrame.HeaderSize + bodyLength;
    }

    public static ZmpFault? FaultOf(ReadOnlySpan<byte> body) => body.Length switch
    {
        1 => null,
        < FixedBody => ZmpFault.HeartbeatTooShort,
        _ when body[3] > LargestContext => ZmpFault.HeartbeatContextTooLong,
        _ when body.Length != FixedBody + body[3] => ZmpFault.HeartbeatLengthMismatch,
        _ => null,
    };
}

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
