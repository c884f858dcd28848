namespace Net.Zlink.Protocol.Zmp;

/// <summary>The flags byte of a frame (docs/protocol.md section 7).</summary>
[Flags]
internal enum ZmpFlags : byte
{
    /// <summary>The last, or only, part of a message.</summary>
    None = 0,

    /// <summary>More parts follow.</summary>
    More = 0x01,

    /// <summary>See <see cref="ZmpControl"/>.</summary>
    Control = 0x02,

    /// <summary>Never sent; dropped when received.</summary>
    Identity = 0x04,

    /// <summary>The body is a topic.</summary>
    Subscribe = 0x08,

    /// <summary>The body is a topic.</summary>
    Cancel = 0x10,
}

internal static class ZmpFlagsExtensions
{
    // The seven legal values, one bit each: 00, 01, 02, 04, 05, 08, 10.
    private const uint Legal =
        (1u << (int)ZmpFlags.None) | (1u << (int)ZmpFlags.More) | (1u << (int)ZmpFlags.Control) | (1u << (int)ZmpFlags.Identity)
        | (1u << (int)(ZmpFlags.Identity | ZmpFlags.More)) | (1u << (int)ZmpFlags.Subscribe) | (1u << (int)ZmpFlags.Cancel);

    extension(ZmpFlags)
    {
        public static bool IsLegal(byte flags) => flags <= (byte)ZmpFlags.Cancel && ((Legal >> flags) & 1) != 0;
    }
}
