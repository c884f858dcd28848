namespace Net.Zlink.Protocol.Zmp;

/// <summary>HELLO: 01, socket type, routing id length, routing id (docs/protocol.md section 8).</summary>
internal static class ZmpHello
{
    /// <summary>The bytes in front of the routing id, which may be empty.</summary>
    public const int SmallestBody = 3;

    /// <summary>The length of a routing id is one byte.</summary>
    public const int LargestRoutingId = byte.MaxValue;

    public const int LargestBody = SmallestBody + LargestRoutingId;

    /// <summary>The room that <see cref="Write"/> needs at most.</summary>
    public const int LargestFrame = ZmpFrame.HeaderSize + LargestBody;

    /// <summary>Writes one whole frame; the routing id has at most <see cref="LargestRoutingId"/> bytes.</summary>
    /// <returns>Bytes written.</returns>
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

    /// <summary>Reads the body of a connection's first frame, and decides whether its sender may talk to <paramref name="ownType"/>.</summary>
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

    /// <summary>The routing id in a body that has been found good.</summary>
    public static ReadOnlySpan<byte> RoutingIdOf(ReadOnlySpan<byte> body) => body[SmallestBody..];

    // In this order, which a peer that does several things wrong can see.
    private static ZmpFault? FaultOf(ReadOnlySpan<byte> body, ZmpSocketType ownType) => body.Length switch
    {
        < SmallestBody => ZmpFault.HelloTooShort,
        > LargestBody => ZmpFault.HelloTooLarge,
        _ when body[0] != ZmpControl.Hello => ZmpFault.MissingHello,
        _ when !ownType.MayTalkTo(body[1]) => ZmpFault.TypesDoNotTalk(ownType, body[1]),
        _ when body.Length != SmallestBody + body[2] => ZmpFault.HelloIdentityMismatch,
        _ => null,
    };
}
