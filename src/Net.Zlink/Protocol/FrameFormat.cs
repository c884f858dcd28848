using System.Buffers.Binary;

namespace Net.Zlink.Protocol;

/// <summary>
/// How a protocol frames messages: <paramref name="beginning"/> with its flags, then the body's length in 32 bits, big-endian. One object
/// for each protocol, shared by all queues. The engine knows no other way.
/// </summary>
/// <param name="headerSize">8; 4: only the length; 0: bytes as they come, of which each read is delivered.</param>
/// <param name="beginning">The first four of eight bytes, as a little-endian word.</param>
/// <param name="more">In it, the flag that another part of the same message follows.</param>
internal sealed class FrameFormat(int headerSize, uint beginning = 0, uint more = 0)
{
    private const int LengthSize = sizeof(uint);
    private const int LargestHeader = sizeof(ulong);

    public int HeaderSize => headerSize;

    /// <summary>With its header it fits a .NET array.</summary>
    public static int LargestBody => Array.MaxLength - LargestHeader;

    public void WriteHeader(Span<byte> destination, int length, bool continues)
    {
        if (headerSize == LargestHeader)
        {
            uint word = continues ? beginning | more : beginning;
            BinaryPrimitives.WriteUInt64LittleEndian(destination, ((ulong)BinaryPrimitives.ReverseEndianness((uint)length) << 32) | word);
        }
        else if (headerSize == LengthSize)
        {
            BinaryPrimitives.WriteUInt32BigEndian(destination, (uint)length);
        }
    }

    public int ReadLength(ReadOnlySpan<byte> frame, out bool continues)
    {
        continues = more != 0 && (BinaryPrimitives.ReadUInt32LittleEndian(frame) & more) != 0;
        return headerSize == 0 ? frame.Length : BinaryPrimitives.ReadInt32BigEndian(frame[(headerSize - LengthSize)..]);
    }

    /// <summary>The length of the first message with its headers; 0 if it does not end in these bytes.</summary>
    public int LengthOfMessage(ReadOnlySpan<byte> frames)
    {
        bool continues = true;
        int position = 0;
        while (continues)
        {
            if (frames.Length - position < headerSize)
            {
                return 0;
            }

            // A body of nearly 2 GiB in the next segment ends beyond an int.
            long end = (long)position + headerSize + ReadLength(frames[position..], out continues);
            if (end > frames.Length)
            {
                return 0;
            }

            position = (int)end;
        }

        return position;
    }
}
