using Net.Zlink.Protocol.Zmp;

namespace Net.Zlink.Engine;

/// <summary>Where a segment that was being written can be taken up again on another connection: at a message boundary behind everything that may have left.</summary>
/// <param name="Boundary">Start of the first whole message that was not handed over; the segment's length if there is none.</param>
/// <param name="Written">Messages that ended within what was completely handed over.</param>
/// <param name="Lost">Messages cut off or unconfirmed, of which the end is in this segment.</param>
/// <param name="Continues">A message that was cut off goes on in the next segment.</param>
internal readonly record struct OutboundLoss(int Boundary, int Written, int Lost, bool Continues)
{
    /// <summary>Looks at the segment that was in flight when a ZMP connection broke. Control frames count as part of the message before or around them.</summary>
    public static OutboundLoss Of(OutboundSegment segment)
    {
        int gone = Math.Max(segment.Sent, segment.Exposed);
        int position = segment.Skipped;
        int written = 0;
        int lost = 0;
        if (segment.HeadBytes > 0)
        {
            // Its beginning left with an earlier segment: whatever is left of it must not be sent alone.
            if (segment.HeadBytes == segment.Length)
            {
                bool ended = segment.Messages > 0;
                return new OutboundLoss(segment.Length, 0, ended ? 1 : 0, Continues: !ended);
            }

            position = segment.HeadBytes;
            Count(position);
        }

        // Not before here: of memory that was handed over and has no owner any more nothing can be read, and nothing need be.
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
            long end = (long)position + ZmpFrame.HeaderSize + ZmpFrame.ReadLength(bytes[position..]); // A body of nearly 2 GiB in the next segment ends beyond what an int holds.
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
