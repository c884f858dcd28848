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

    /// <summary>Of the written ones: what may not have been received, since the peer ended the connection before it was heard, or with an ERROR.</summary>
    public long UnconfirmedMessages;

    /// <summary>Of the dropped ones: what nobody misses. A newer message has taken their place, or they said what the peer is told anew.</summary>
    public long ObsoleteMessages;
    public long ObsoleteBytes;

    /// <summary>Of the queued ones: what says what has changed and nothing else, and becomes obsolete with the connection.</summary>
    public long QueuedNews;
    public long QueuedNewsBytes;

    /// <summary>Dropped messages that their receiver misses.</summary>
    public readonly long MissedMessages => DroppedMessages - ObsoleteMessages;

    /// <summary>Their bytes.</summary>
    public readonly long MissedBytes => DroppedBytes - ObsoleteBytes;

    /// <summary>Messages were taken in.</summary>
    public void Accept(long messages, long bytes)
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

    /// <summary>Messages that were taken in are news.</summary>
    public void AddNews(long messages, long bytes)
    {
        QueuedNews += messages;
        QueuedNewsBytes += bytes;
    }

    /// <summary>Of messages that left the queue some were news.</summary>
    public void SettleNews(long messages, long bytes, bool written)
    {
        QueuedNews -= messages;
        QueuedNewsBytes -= bytes;
        if (!written)
        {
            Excuse(messages, bytes);
        }
    }

    /// <summary>Some of those that were dropped are missed by nobody.</summary>
    public void Excuse(long messages, long bytes)
    {
        ObsoleteMessages += messages;
        ObsoleteBytes += bytes;
    }
}
