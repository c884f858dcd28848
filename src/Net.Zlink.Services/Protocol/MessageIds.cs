namespace Net.Zlink.Services;

/// <summary>The first frame of every service message, 16 bits, little-endian.</summary>
internal static class MessageIds
{
    public const ushort Register = 0x0001;
    public const ushort RegisterAck = 0x0002;
    public const ushort Unregister = 0x0003;
    public const ushort Heartbeat = 0x0004;
    public const ushort ServiceList = 0x0005;

    /// <summary>A registry's own entries alone, for its peers. The native registry accepts it and never sends it.</summary>
    public const ushort RegistrySync = 0x0006;
    public const ushort UpdateWeight = 0x0007;
}
