using System.Buffers.Binary;
using Xunit;

namespace Net.Zlink.Tests.Support;

/// <summary>The STREAM wire written down a second time, independent of the library: a length in 4 bytes, big endian, then the
/// payload.</summary>
internal static class Wire
{
    public const int HeaderSize = 4;

    /// <summary>
    /// More than the kernel holds of a connection whose buffers were set to 16 KiB: while the other end does not read, not one payload of
    /// this size is ever written whole.
    /// (How much of it the kernel takes changes with its timers, so with small payloads the number of those that are written changes, too.)
    /// </summary>
    public const int HugeSize = 256 * 1024;

    /// <summary>A payload of <see cref="HugeSize"/>.</summary>
    public static byte[] Huge { get; } = Pattern(HugeSize);

    public static byte[] Header(uint length)
    {
        byte[] header = new byte[HeaderSize];
        BinaryPrimitives.WriteUInt32BigEndian(header, length);
        return header;
    }

    public static byte[] Frame(ReadOnlySpan<byte> payload) => [.. Header((uint)payload.Length), .. payload];

    /// <summary>Several frames in one array.</summary>
    public static byte[] Frames(params IEnumerable<byte[]> payloads) => [.. payloads.SelectMany(static payload => Frame(payload))];

    /// <summary>A payload whose bytes tell where they belong, so that a shifted, torn or mixed-up one is noticed.</summary>
    public static byte[] Pattern(int length, int seed = 0)
    {
        byte[] payload = new byte[length];
        for (int i = 0; i < length; i++)
        {
            payload[i] = (byte)((i * 31) + (i >> 8) + seed);
        }

        return payload;
    }

    /// <summary>Compares long byte arrays quickly, and says where they differ.</summary>
    public static void AssertSame(byte[] expected, byte[] actual)
    {
        int common = expected.AsSpan().CommonPrefixLength(actual);
        Assert.True(
            common == expected.Length && common == actual.Length,
                $"{expected.Length} bytes expected, {actual.Length} came, the first {common} are the same");
    }

    /// <summary>Cuts a byte stream into whole payloads; fails if it ends inside a frame.</summary>
    public static List<byte[]> Split(ReadOnlySpan<byte> bytes)
    {
        var payloads = new List<byte[]>();
        while (!bytes.IsEmpty)
        {
            Assert.True(bytes.Length >= HeaderSize, "the stream ends inside a header");
            int length = (int)BinaryPrimitives.ReadUInt32BigEndian(bytes);
            Assert.True(bytes.Length >= HeaderSize + length, "the stream ends inside a payload");
            payloads.Add(bytes.Slice(HeaderSize, length).ToArray());
            bytes = bytes[(HeaderSize + length)..];
        }

        return payloads;
    }
}
