namespace Net.Zlink.Sockets.Pipes;

/// <summary>The books of one lane: received = delivered + dropped + filtered + queued, in messages. Bytes are payload and headers.</summary>
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

    /// <summary>It is full, for its bytes alone.</summary>
    public bool IsFullOfBytes;

    public void Receive(long messages, long bytes)
    {
        Received += messages;
        ReceivedBytes += bytes;
    }

    public void Drop(long messages, long bytes)
    {
        Dropped += messages;
        DroppedBytes += bytes;
    }
}
