namespace Net.Zlink.Engine;

/// <summary>accepted = written + dropped + queued, in messages and encoded bytes.</summary>
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

    /// <summary>The peer ended the connection before it sent a frame, or sent an ERROR.</summary>
    public long UnconfirmedMessages;

    public long ObsoleteMessages;
    public long ObsoleteBytes;

    public long QueuedUpdates;
    public long QueuedUpdateBytes;

    public readonly long MissedMessages => DroppedMessages - ObsoleteMessages;

    public readonly long MissedBytes => DroppedBytes - ObsoleteBytes;

    public void Accept(long messages, long bytes)
    {
        AcceptedMessages += messages;
        AcceptedBytes += bytes;
        QueuedMessages += messages;
        QueuedBytes += bytes;
    }

    public void Settle(long messages, long bytes, bool isWritten, bool isUpdate)
    {
        QueuedMessages -= messages;
        QueuedBytes -= bytes;
        if (isWritten)
        {
            WrittenMessages += messages;
            WrittenBytes += bytes;
        }
        else
        {
            DroppedMessages += messages;
            DroppedBytes += bytes;
        }

        if (isUpdate)
        {
            AddUpdate(-messages, -bytes);
            Excuse(isWritten ? 0 : messages, isWritten ? 0 : bytes);
        }
    }

    public void DropQueued()
    {
        Excuse(QueuedUpdates, QueuedUpdateBytes);
        AddUpdate(-QueuedUpdates, -QueuedUpdateBytes);
        Settle(QueuedMessages, QueuedBytes, isWritten: false, isUpdate: false);
    }

    public void AddUpdate(long messages, long bytes)
    {
        QueuedUpdates += messages;
        QueuedUpdateBytes += bytes;
    }

    public void Excuse(long messages, long bytes)
    {
        ObsoleteMessages += messages;
        ObsoleteBytes += bytes;
    }
}
