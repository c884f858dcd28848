using System.Buffers.Binary;

namespace Net.Zlink.Protocol.Zmp;

/// <summary>HEARTBEAT: 02, ttl in tenths of a second (u16), context length, context (docs/protocol.md sections 8 and 14).</summary>
internal readonly ref struct ZmpHeartbeat
{
    public const int LargestContext = 16;

    public const int LargestFrame = ZmpFrame.HeaderSize + FixedBody + LargestContext;

    private const int FixedBody = 4;

    private ZmpHeartbeat(ushort ttlTenths, ReadOnlySpan<byte> context, bool isToBeAnswered)
    {
        TtlTenths = ttlTenths;
        Context = context;
        IsToBeAnswered = isToBeAnswered;
    }

    /// <summary>How long the sender may be silent, in tenths of a second; 0: no limit.</summary>
    public ushort TtlTenths { get; }

    public ReadOnlySpan<byte> Context { get; }

    public bool IsToBeAnswered { get; }

    public static int Write(Span<byte> destination, ushort ttlTenths, ReadOnlySpan<byte> context)
    {
        if (context.Length > LargestContext)
        {
            throw new ArgumentException($"A heartbeat's context has at most {LargestContext} bytes.", nameof(context));
        }

        int bodyLength = FixedBody + context.Length;
        ZmpFrame.WriteHeader(destination, ZmpFlags.Control, (uint)bodyLength);
        Span<byte> body = destination.Slice(ZmpFrame.HeaderSize, bodyLength);
        body[0] = ZmpControl.Heartbeat;
        BinaryPrimitives.WriteUInt16BigEndian(body[1..], ttlTenths);
        body[3] = (byte)context.Length;
        context.CopyTo(body[FixedBody..]);
        return ZmpFrame.HeaderSize + bodyLength;
    }

    public static bool TryParse(ReadOnlySpan<byte> body, out ZmpHeartbeat heartbeat, out ZmpFault fault)
    {
        if (FaultOf(body) is { } found)
        {
            heartbeat = default;
            fault = found;
            return false;
        }

        heartbeat = Read(body);
        fault = default;
        return true;
    }

    public static ZmpHeartbeat Read(ReadOnlySpan<byte> body) =>
            body.Length < FixedBody
                ? default
                : new ZmpHeartbeat(BinaryPrimitives.ReadUInt16BigEndian(body[1..]), body[FixedBody..], isToBeAnswered: true);

    private static ZmpFault? FaultOf(ReadOnlySpan<byte> body) => body.Length switch
    {
        1 => null,
        < FixedBody => ZmpFault.HeartbeatTooShort,
        _ when body[3] > LargestContext => ZmpFault.HeartbeatContextTooLong,
        _ when body.Length != FixedBody + body[3] => ZmpFault.HeartbeatLengthMismatch,
        _ => null,
    };
}
