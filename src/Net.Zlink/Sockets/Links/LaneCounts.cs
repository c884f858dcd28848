using Net.Zlink.Engine;

namespace Net.Zlink.Sockets.Links;

/// <summary>The counts of one lane at one moment: received = delivered + dropped + filtered + queued, in messages.</summary>
internal record struct LaneCounts
{
    public long Received;
    public long ReceivedBytes;
    public long Delivered;
    public long Dropped;
    public long DroppedBytes;

    public long Filtered;

    public long QueuedMessages;
    public long QueuedBytes;
    public bool IsPaused;

    /// <inheritdoc cref="QueueCapacity.CauseOf"/>
    public FullCause FullCause;
}

/// <summary>No counter is written for an incoming message. Bytes are added when messages leave, many at a time.</summary>
internal struct LaneCounters
{
    private long _delivered;
    private long _dropped;
    private long _filtered;
    private long _bytesDropped;
    private long _bytesRemoved;

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

    public void Filter(long messages, long bytes)
    {
        _filtered += messages;
        _bytesRemoved += bytes;
    }

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
