using System.Buffers.Binary;
using System.Text;

namespace Net.Zlink.Protocol.Zmp;

/// <summary>The first byte of a control frame's body: its type (docs/protocol.md section 8).</summary>
internal static class ZmpControl
{
    public const byte Hello = 0x01;
    public const byte Heartbeat = 0x02;
    public const byte HeartbeatAck = 0x03;
    public const byte Ready = 0x04;
    public const byte Error = 0x05;

    /// <summary>Writes the header and the type, and returns the body.</summary>
    public static Span<byte> Begin(Span<byte> destination, byte type, int bodyLength)
    {
        ZmpFrame.WriteHeader(destination, ZmpFlags.Control, (uint)bodyLength);
        Span<byte> body = destination.Slice(ZmpFrame.HeaderSize, bodyLength);
        body[0] = type;
        return body;
    }
}

/// <summary>HELLO: 01, socket type, routing id length, routing id (docs/protocol.md section 8).</summary>
internal static class ZmpHello
{
    public const int SmallestBody = 3;

    public const int LargestRoutingId = byte.MaxValue;

    public const int LargestBody = SmallestBody + LargestRoutingId;

    public const int LargestFrame = ZmpFrame.HeaderSize + LargestBody;

    public static int Write(Span<byte> destination, ZmpSocketType type, ReadOnlySpan<byte> routingId)
    {
        int bodyLength = SmallestBody + routingId.Length;
        Span<byte> body = ZmpControl.Begin(destination, ZmpControl.Hello, bodyLength);
        body[1] = (byte)type;
        body[2] = checked((byte)routingId.Length);
        routingId.CopyTo(body[SmallestBody..]);
        return ZmpFrame.HeaderSize + bodyLength;
    }

    public static ReadOnlySpan<byte> RoutingIdOf(ReadOnlySpan<byte> body) => body[SmallestBody..];

    // A peer with several faults can observe this order.
    public static ZmpFault? FaultOf(ReadOnlySpan<byte> body, ZmpSocketType ownType) => body.Length switch
    {
        < SmallestBody => ZmpFault.HelloTooShort,
        > LargestBody => ZmpFault.HelloTooLarge,
        _ when body[0] != ZmpControl.Hello => ZmpFault.MissingHello,
        _ when !ownType.IsCompatibleWith(body[1]) => ZmpFault.IncompatibleTypes(ownType, body[1]),
        _ when body.Length != SmallestBody + body[2] => ZmpFault.HelloIdentityMismatch,
        _ => null,
    };
}

internal static class ZmpReady
{
    public const int PlainFrame = ZmpFrame.HeaderSize + 1;

    public const int LargestFrame = PlainFrame + PropertyOverhead + 11 + 6 + PropertyOverhead + 8 + ZmpHello.LargestRoutingId;

    private const int PropertyOverhead = 1 + sizeof(uint);

    public static int Write(Span<byte> destination)
    {
        ZmpControl.Begin(destination, ZmpControl.Ready, bodyLength: 1);
        return PlainFrame;
    }

    public static int WriteWithMetadata(Span<byte> destination, ZmpSocketType type, ReadOnlySpan<byte> routingId)
    {
        Span<byte> name = stackalloc byte[8];
        int nameLength = Encoding.ASCII.GetBytes(type.Name, name);
        int length = PlainFrame;
        length += WriteProperty(destination[length..], "Socket-Type"u8, name[..nameLength]);
        if (type.AnnouncesIdentity)
        {
            length += WriteProperty(destination[length..], "Identity"u8, routingId);
        }

        ZmpControl.Begin(destination, ZmpControl.Ready, length - ZmpFrame.HeaderSize);
        return length;
    }

    public static ZmpPropertyReader PropertiesOf(ReadOnlySpan<byte> body) => new(body[1..]);

    public static bool IsWellFormed(ReadOnlySpan<byte> body)
    {
        ZmpPropertyReader properties = PropertiesOf(body);
        while (properties.MoveNext())
        {
        }

        return !properties.IsMalformed;
    }

    internal static int WriteProperty(Span<byte> destination, ReadOnlySpan<byte> name, ReadOnlySpan<byte> value)
    {
        destination[0] = checked((byte)name.Length);
        name.CopyTo(destination[1..]);
        BinaryPrimitives.WriteUInt32BigEndian(destination[(1 + name.Length)..], (uint)value.Length);
        value.CopyTo(destination[(PropertyOverhead + name.Length)..]);
        return PropertyOverhead + name.Length + value.Length;
    }
}

/// <summary>HEARTBEAT: 02, ttl in tenths of a second (u16), context length, context (docs/protocol.md sections 8 and 14).</summary>
internal readonly ref struct ZmpHeartbeat(ReadOnlySpan<byte> body)
{
    public const int LargestContext = 16;

    /// <summary>Of those that this side sends: without a context.</summary>
    public const int FrameSize = ZmpFrame.HeaderSize + FixedBody;

    private const int FixedBody = 4;

    private readonly ReadOnlySpan<byte> _body = body;

    /// <summary>How long the sender may be silent, in tenths of a second; 0: no limit.</summary>
    public ushort TtlTenths => IsToBeAnswered ? BinaryPrimitives.ReadUInt16BigEndian(_body[1..]) : (ushort)0;

    public ReadOnlySpan<byte> Context => IsToBeAnswered ? _body[FixedBody..] : default;

    /// <summary>The single byte 02 has neither a reply nor a ttl.</summary>
    public bool IsToBeAnswered => _body.Length >= FixedBody;

    public static void Write(Span<byte> destination, ushort ttlTenths)
    {
        Span<byte> body = ZmpControl.Begin(destination, ZmpControl.Heartbeat, FixedBody);
        BinaryPrimitives.WriteUInt16BigEndian(body[1..], ttlTenths);
        body[3] = 0;
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
