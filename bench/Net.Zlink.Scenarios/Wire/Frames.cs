using System.Buffers.Binary;

namespace Net.Zlink.Scenarios.Wire;

/// <summary>The STREAM wire: a 32-bit big-endian length, then so many bytes.</summary>
internal static class Frames
{
    public const int HeaderSize = 4;

    // The library's own default limit: an announced length beyond it is a fault, not a message.
    public const int LongestPayload = 8 * 1024 * 1024;

    /// <summary>The bytes of all whole frames at the start of <paramref name="bytes"/>; -1 if a length makes no sense.</summary>
    public static int WholeLength(ReadOnlySpan<byte> bytes)
    {
        int end = 0;
        while (bytes.Length - end >= HeaderSize)
        {
            uint length = BinaryPrimitives.ReadUInt32BigEndian(bytes[end..]);
            if (length > LongestPayload)
            {
                return -1;
            }

            if ((uint)(bytes.Length - end - HeaderSize) < length)
            {
                break;
            }

            end += HeaderSize + (int)length;
        }

        return end;
    }

    /// <summary>The whole length of the frame that begins here, header included; 0 if the header is not whole.</summary>
    public static int FrameLength(ReadOnlySpan<byte> bytes) =>
        bytes.Length < HeaderSize ? 0 : (int)Math.Min(BinaryPrimitives.ReadUInt32BigEndian(bytes), LongestPayload) + HeaderSize;
}
