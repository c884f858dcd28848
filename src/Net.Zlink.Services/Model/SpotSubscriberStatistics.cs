namespace Net.Zlink.Services;

/// <summary>What one subscriber has got: a snapshot in which <see cref="Matched"/> is the sum of <see cref="Received"/>, <see
/// cref="Dropped"/> and <see cref="Queued"/>.</summary>
public sealed record SpotSubscriberStatistics
{
    /// <summary>Messages that at least one of its subscriptions matched, each counted once.</summary>
    public long Matched { get; init; }

    /// <summary>Of these, what the application or its handler has received.</summary>
    public long Received { get; init; }

    /// <summary>Of these, what was dropped because the queue was full, or was unread when the subscriber was disposed.</summary>
    public long Dropped { get; init; }

    /// <summary>Of these, what waits in the queue.</summary>
    public int Queued { get; init; }

    /// <summary>Bytes that wait in the queue, topics included.</summary>
    public long QueuedBytes { get; init; }
}
