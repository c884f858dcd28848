using Net.Zlink.Protocol.Zmp;

namespace Net.Zlink.Engine;

/// <summary>
/// Where a segment in flight can continue on another connection: at a message boundary after everything that may have been sent.
/// </summary>
internal readonly record struct OutboundLoss(int Boundary, int Written, int Lost, bool Continues)
{
    public static OutboundLoss Of(OutboundSegment segment)
    {
        int gone = Math.Max(segment.Sent, segment.Exposed);
        int position = segment.Skipped;
        int written = 0;
        int lost = 0;
        if (segment.HeadBytes > 0)
        {
            // Its beginning was sent with an earlier segment: the rest must not be sent alone.
            if (segment.HeadBytes == segment.Length)
            {
                bool ended = segment.Messages > 0;
                return new OutboundLoss(segment.Length, 0, ended ? 1 : 0, Continues: !ended);
            }

            position = segment.HeadBytes;
            Count(position);
        }

        ReadOnlySpan<byte> bytes = segment.Memory.Span[..segment.Length];
        while (position < gone)
        {
            if (!TrySkipMessage(bytes, ref position))
            {
                return new OutboundLoss(segment.Length, written, lost, Continues: true);
            }

            Count(position);
        }

        return new OutboundLoss(position, written, lost, Continues: false);

        void Count(int end)
        {
            if (end <= segment.Sent)
            {
                written++;
            }
            else
            {
                lost++;
            }
        }
    }

    private static bool TrySkipMessage(ReadOnlySpan<byte> bytes, ref int position)
    {
        while (bytes.Length - position >= ZmpFrame.HeaderSize)
        {
            var flags = (ZmpFlags)bytes[position + ZmpFrame.FlagsOffset];
            // A body of nearly 2 GiB in the next segment ends beyond an int.
            long end = (long)position + ZmpFrame.HeaderSize + ZmpFrame.ReadLength(bytes[position..]);
            if (end > bytes.Length)
            {
                break;
            }

            position = (int)end;
            if ((flags & ZmpFlags.More) == ZmpFlags.None)
            {
                return true;
            }
        }

        position = bytes.Length;
        return false;
    }
}
