using System.Buffers.Binary;

namespace Net.Zlink.Extensions.Tests;

/// <summary>The values of program (b): numbered, and long enough that a subscriber that does not read is full soon.</summary>
internal static class Book
{
    public static byte[] Write(int number)
    {
        byte[] bytes = new byte[64 * 1024];
        BinaryPrimitives.WriteInt32LittleEndian(bytes, number);
        return bytes;
    }

    public static int Read(ReadOnlySpan<byte> bytes) => BinaryPrimitives.ReadInt32LittleEndian(bytes);
}
