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
        ZmpFrame.WriteHeader(destination, ZmpFlags.Control, (uint)bodyLength);
        Span<byte> body = destination.Slice(ZmpFrame.HeaderSize, bodyLength);
        body[0] = ZmpControl.Hello;
        body[1] = (byte)type;
        body[2] = checked((byte)routingId.Length);
        routingId.CopyTo(body[SmallestBody..]);
        return ZmpFrame.HeaderSize + bodyLength;
    }

    public static bool TryParse(
        ReadOnlySpan<byte> body, ZmpSocketType ownType, out ZmpSocketType peerType, out ReadOnlySpan<byte> routingId, out ZmpFault fault)
    {
        peerType = default;
        routingId = default;
        if (FaultOf(body, ownType) is { } found)
        {
            fault = found;
            return false;
        }

        peerType = (ZmpSocketType)body[1];
        routingId = RoutingIdOf(body);
        fault = default;
        return true;
    }

    public static ReadOnlySpan<byte> RoutingIdOf(ReadOnlySpan<byte> body) => body[SmallestBody..];

    // A peer with several faults can observe this order.
    private static ZmpFault? FaultOf(ReadOnlySpan<byte> body, ZmpSocketType ownType) => body.Length switch
    {
        < SmallestBody => ZmpFault.HelloTooShort,
        > LargestBody => ZmpFault.HelloTooLarge,
        _ when body[0] != ZmpControl.Hello => ZmpFault.MissingHello,
        _ when !ownType.IsCompatibleWith(body[1]) => ZmpFault.IncompatibleTypes(ownType, body[1]),
        _ when body.Length != SmallestBody + body[2] => ZmpFault.HelloIdentityMismatch,
        _ => null,
    };
}
