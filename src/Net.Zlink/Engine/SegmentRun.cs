using Net.Zlink.Buffers;

namespace Net.Zlink.Engine;

/// <summary>
/// The segments of one message, which it shares with no other unless it is a single one. Made outside the queue's lock, and linked when it
/// is whole: a message for which no memory is left changes nothing.
/// </summary>
internal ref struct SegmentRun(BufferPool pool)
{
    public OutboundSegment? First { get; private set; }

    public OutboundSegment? Last { get; private set; }

    public long Bytes { get; private set; }

    public Span<byte> AddSpace(int length)
    {
        byte[] array = pool.RentArray(length);
        AddArray(array, length);
        return array;
    }

    public void AddArray(byte[] array, int length)
    {
        OutboundSegment segment = OutboundSegment.ForEncoding(array);
        segment.Length = length;
        Add(segment);
    }

    /// <summary>The body of the frame whose header was added last.</summary>
    public void AddBody(OutboundSegment body)
    {
        Last!.EndsMidFrame = true;
        Add(body);
    }

    /// <summary>Donated memory, and an array that was to be moved, stay with the sender.</summary>
    public readonly void Discard(EncodedMessage? sender)
    {
        for (OutboundSegment? segment = First; segment is not null; segment = segment.Next)
        {
            segment.Disown(sender);
        }

        OutboundSegment.ReleaseAll(First, pool);
    }

    private void Add(OutboundSegment segment)
    {
        Bytes += segment.Length;
        if (Last is null)
        {
            First = segment;
        }
        else
        {
            Last.Next = segment;
            Last.IsOpen = false;
            segment.IsOpen = false;
            segment.IsContinuation = true;
        }

        Last = segment;
    }
}
