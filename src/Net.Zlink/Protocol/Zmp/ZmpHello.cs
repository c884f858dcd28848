namespace Net.Zlink.Protocol.Zmp;

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
