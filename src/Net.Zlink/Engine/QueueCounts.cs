namespace Net.Zlink.Engine;

/// <summary>
/// What became of the messages of a queue: accepted = taken + dropped + filtered + queued, in messages and bytes. A connection has written
/// what was taken of an outbound queue, and a consumer received what was taken of a lane. Bytes are encoded bytes. Nothing but
/// <see cref="QueuedMessages"/> and <see cref="QueuedBytes"/> is written for a new message; the others change for many at a time.
/// </summary>
internal struct QueueCounts
{
    public long QueuedMessages;
    public long QueuedBytes;
    public long TakenMessages;

    /// <summary>Those of filtered messages, too.</summary>
    public long TakenBytes;
    public long DroppedMessages;
    public long DroppedBytes;

    /// <summary>Refused by the receiver's subscriptions before they came into its lane.</summary>
    public long FilteredMessages;

    /// <summary>The peer ended the connection before it sent a frame, or sent an ERROR.</summary>
    public long UnconfirmedMessages;

    /// <summary>Dropped, but nobody misses them.</summary>
    public long ObsoleteMessages;
    public long ObsoleteBytes;
    public long QueuedUpdates;
    public long QueuedUpdateBytes;

    public readonly long AcceptedMessages => TakenMessages + DroppedMessages + FilteredMessages + QueuedMessages;

    public readonly long AcceptedBytes => TakenBytes + DroppedBytes + QueuedBytes;

    public readonly long MissedMessages => DroppedMessages - ObsoleteMessages;

    public readonly long MissedBytes => DroppedBytes - ObsoleteBytes;

    public void Drop(long messages, long bytes)
    {
        DroppedMessages += messages;
        DroppedBytes += bytes;
    }

    /// <summary>Nothing is queued any more: what was is dropped, and nobody misses the updates among it.</summary>
    public void DropQueued()
    {
        Excuse(QueuedUpdates, QueuedUpdateBytes);
        Drop(QueuedMessages, QueuedBytes);
        (QueuedMessages, QueuedBytes, QueuedUpdates, QueuedUpdateBytes) = (0, 0, 0, 0);
    }

    public void Excuse(long messages, long bytes)
    {
        ObsoleteMessages += messages;
        ObsoleteBytes += bytes;
    }

    public void AddUpdate(long messages, long bytes)
    {
        QueuedUpdates += messages;
        QueuedUpdateBytes += bytes;
    }

    public void Add(in QueueCounts other)
    {
        QueuedMessages += other.QueuedMessages;
        QueuedBytes += other.QueuedBytes;
        TakenMessages += other.TakenMessages;
        TakenBytes += other.TakenBytes;
        Drop(other.DroppedMessages, other.DroppedBytes);
        FilteredMessages += other.FilteredMessages;
        UnconfirmedMessages += other.UnconfirmedMessages;
        Excuse(other.ObsoleteMessages, other.ObsoleteBytes);
        AddUpdate(other.QueuedUpdates, other.QueuedUpdateBytes);
    }
}
