using System.Buffers.Binary;

namespace Net.Zlink.Protocol;

/// <summary>An encoded frame header of 4 or 8 bytes, carried by value: no wire we speak has a longer one.</summary>
/// <param name="Bits">The bytes in memory order, the first one lowest.</param>
/// <param name="Length">4 (STREAM) or 8.</param>
internal readonly record struct FrameHeader(ulong Bits, int Length)
{
    public void WriteTo(Span<byte> destination)
    {
        if (Length == sizeof(uint))
        {
            BinaryPrimitives.WriteUInt32LittleEndian(destination, (uint)Bits);
        }
        else
        {
            BinaryPrimitives.WriteUInt64LittleEndian(destination, Bits);
        }
    }
}
