namespace Net.Zlink.Protocol.Zmp;

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
