namespace Net.Zlink.Protocol;

/// <summary>How a protocol frames messages: one object for each protocol, shared by all queues. The engine knows no other way.</summary>
internal abstract class FrameFormat(int headerSize)
{
    public int HeaderSize { get; } = headerSize;

    /// <summary>With its header it fits a .NET array.</summary>
    public int LargestBody => Array.MaxLength - HeaderSize;

    /// <summary><paramref name="more"/>: another part of the same message follows.</summary>
    public abstract void WriteHeader(Span<byte> destination, int length, bool more);

    public abstract int ReadLength(ReadOnlySpan<byte> frame, out bool more);

    /// <summary>The length of the first message with its headers; 0 if it does not end in these bytes.</summary>
    public int LengthOfMessage(ReadOnlySpan<byte> frames)
    {
        bool more = true;
        int position = 0;
        while (more)
        {
            if (frames.Length - position < HeaderSize)
            {
                return 0;
            }

            // A body of nearly 2 GiB in the next segment ends beyond an int.
            long end = (long)position + HeaderSize + ReadLength(frames[position..], out more);
            if (end > frames.Length)
            {
                return 0;
            }

            position = (int)end;
        }

        return position;
    }
}
