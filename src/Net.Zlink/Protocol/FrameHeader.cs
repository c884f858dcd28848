using System.Buffers.Binary;

namespace Net.Zlink.Protocol;

/// <summary><see cref="Bits"/> are in memory order, the first byte lowest.</summary>
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
