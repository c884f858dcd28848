namespace Net.Zlink.Protocol.Zmp;

/// <summary>The flags byte of a frame (docs/protocol.md section 7).</summary>
[Flags]
internal enum ZmpFlags : byte
{
    None = 0,

    More = 0x01,

    Control = 0x02,

    /// <summary>Never sent; dropped when received.</summary>
    Identity = 0x04,

    Subscribe = 0x08,

    Cancel = 0x10,
}

internal static class ZmpFlagsExtensions
{
    private const uint Legal =
        (1u << (int)ZmpFlags.None) | (1u << (int)ZmpFlags.More) | (1u << (int)ZmpFlags.Control) | (1u << (int)ZmpFlags.Identity)
        | (1u << (int)(ZmpFlags.Identity | ZmpFlags.More)) | (1u << (int)ZmpFlags.Subscribe) | (1u << (int)ZmpFlags.Cancel);

    extension(ZmpFlags)
    {
        public static bool IsLegal(byte flags) => flags <= (byte)ZmpFlags.Cancel && ((Legal >> flags) & 1) != 0;
    }
}
