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

    /// <summary>Messages were taken in.</summary>
    public void Accept(int messages, long bytes)
    {
        AcceptedMessages += messages;
        AcceptedBytes += bytes;
        QueuedMessages += messages;
        QueuedBytes += bytes;
    }

    /// <summary>Queued messages left the queue.</summary>
    public void Settle(long messages, long bytes, bool written)
    {
        QueuedMessages -= messages;
        QueuedBytes -= bytes;
        if (written)
        {
            WrittenMessages += messages;
            WrittenBytes += bytes;
        }
        else
        {
            DroppedMessages += messages;
            DroppedBytes += bytes;
        }
    }
}
