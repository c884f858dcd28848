namespace Net.Zlink.Protocol.Zmp;

internal static class ZmpControl
{
    public const byte Hello = 0x01;
    public const byte Heartbeat = 0x02;
    public const byte HeartbeatAck = 0x03;
    public const byte Ready = 0x04;
    public const byte Error = 0x05;
}
