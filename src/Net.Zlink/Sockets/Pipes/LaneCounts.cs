namespace Net.Zlink.Sockets.Pipes;

/// <summary>The books of one lane: received = delivered + dropped + queued, in messages.</summary>
internal record struct LaneCounts
{
    public long Received;
    public long Delivered;
    public long Dropped;
    public long QueuedMessages;
    public long QueuedBytes;
    public bool IsParked;
}
