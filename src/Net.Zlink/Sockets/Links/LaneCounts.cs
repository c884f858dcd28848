using Net.Zlink.Engine;

namespace Net.Zlink.Sockets.Links;

/// <summary>The books of one lane at one moment: received = delivered + dropped + filtered + queued, in messages. Bytes are payload and
/// headers.</summary>
internal record struct LaneCounts
{
    public long Received;
    public long ReceivedBytes;
    public long Delivered;
    public long Dropped;
    public long DroppedBytes;

    /// <summary>Messages that were not for the application: a filter did not let them in, or the socket's type receives none.</summary>
    public long Filtered;

    public long QueuedMessages;
    public long QueuedBytes;
    public bool IsParked;

    /// <inheritdoc cref="QueueCapacity.CauseOf"/>
    public FullCause FullCause;
}

/// <summary>What a lane keeps of its books.</summary>
/// <remarks>Nothing of it is written for a message that comes in: bytes are summed when messages leave, many at a time, and what was
/// received is what has left and what is there.</remarks>
internal struct LaneCounters
{
    private long _delivered;
    private long _dropped;
    private long _filtered;
    private long _bytesDropped;
    private long _bytesRemoved; // Delivered or filtered.

    public void Deliver(long messages, long bytes)
    {
        _delivered += messages;
        _bytesRemoved += bytes;
    }

    public void Drop(long messages, long bytes)
    {
        _dropped += messages;
        _bytesDropped += bytes;
    }

    /// <summary>Of messages that were received in the same moment.</summary>
    public void Filter(long messages, long bytes)
    {
        _filtered += messages;
        _bytesRemoved += bytes;
    }

    /// <param name="queued">Messages that are left.</param>
    /// <param name="queuedBytes">Their bytes.</param>
    /// <param name="taken">Messages that consumers have taken and not settled yet.</param>
    /// <param name="takenBytes">Their bytes.</param>
    public readonly LaneCounts At(long queued, long queuedBytes, long taken, long takenBytes) => new()
    {
        Received = _delivered + taken + _dropped + _filtered + queued,
        ReceivedBytes = _bytesRemoved + _bytesDropped + queuedBytes + takenBytes,
        Delivered = _delivered + taken,
        Dropped = _dropped,
        DroppedBytes = _bytesDropped,
        Filtered = _filtered,
        QueuedMessages = queued,
        QueuedBytes = queuedBytes,
    };
}
