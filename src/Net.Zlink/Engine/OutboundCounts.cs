namespace Net.Zlink.Engine;

/// <summary>The books of one outbound queue: accepted = written + dropped + queued, in messages and in encoded bytes.</summary>
internal struct OutboundCounts
{
    public long AcceptedMessages;
    public long AcceptedBytes;
    public long QueuedMessages;
    public long QueuedBytes;
    public long WrittenMessages;
    public long WrittenBytes;
    public long DroppedMessages;
    public long DroppedBytes;
}
