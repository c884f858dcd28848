using System.Buffers.Binary;
using System.Runtime.CompilerServices;

namespace Net.Zlink.Protocol.Zmp;

/// <summary>
/// The header: 5A 01, flags, 00, then the body's length as a big-endian u32 (docs/protocol.md section 7). Handled as one little-endian
/// word: one load or store, one compare for the constant bytes.
/// </summary>
internal static class ZmpFrame
{
    public const int HeaderSize = 8;
    public const int FlagsOffset = 2;

    public const byte Magic = 0x5A;

    public const byte Version = 0x01;

    private const ulong FixedBytes = 0xFF00FFFF;
    private const uint FixedValues = (Version << 8) | Magic;

    private const uint LegalFlags =
        (1u << (int)ZmpFlags.None) | (1u << (int)ZmpFlags.More) | (1u << (int)ZmpFlags.Control) | (1u << (int)ZmpFlags.Identity)
        | (1u << (int)(ZmpFlags.Identity | ZmpFlags.More)) | (1u << (int)ZmpFlags.Subscribe) | (1u << (int)ZmpFlags.Cancel);

    public static readonly FrameFormat Format = new(HeaderSize, FixedValues, more: (uint)ZmpFlags.More << (8 * FlagsOffset));

    /// <summary>Negative: no limit.</summary>
    public static long EffectiveLimit(long maxMessageSize) =>
        maxMessageSize < 0 ? FrameFormat.LargestBody : Math.Min(maxMessageSize, FrameFormat.LargestBody);

    public static void WriteHeader(Span<byte> destination, ZmpFlags flags, uint bodyLength) => BinaryPrimitives.WriteUInt64LittleEndian(
        destination, ((ulong)BinaryPrimitives.ReverseEndianness(bodyLength) << 32) | ((ulong)flags << (8 * FlagsOffset)) | FixedValues);

    public static int ReadLength(ReadOnlySpan<byte> frame) => (int)BinaryPrimitives.ReadUInt32BigEndian(frame[4..]);

    /// <summary>False: <see cref="FaultOf"/> says why.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static bool TryReadHeader(ReadOnlySpan<byte> bytes, out ZmpFlags flags, out uint bodyLength)
    {
        ulong header = BinaryPrimitives.ReadUInt64LittleEndian(bytes);
        flags = (ZmpFlags)(byte)(header >> 16);
        bodyLength = BinaryPrimitives.ReverseEndianness((uint)(header >> 32));
        return (header & FixedBytes) == FixedValues && flags <= ZmpFlags.Cancel && ((LegalFlags >> (int)flags) & 1) != 0;
    }

    // The order of checks is part of the protocol: the peer gets the first fault.
    public static ZmpFault FaultOf(ReadOnlySpan<byte> header) => header switch
    {
        [not Magic, ..] => ZmpFault.InvalidMagic,
        [_, not Version, ..] => ZmpFault.VersionMismatch,
        _ => ZmpFault.FlagsInvalid,
    };
}

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
