namespace Net.Zlink.Services;

/// <summary>What a SPOT node has done so far: a snapshot, but not of one moment.</summary>
public sealed class SpotNodeStatistics
{
    internal SpotNodeStatistics(SpotSubscriberStatistics deliveries) => Deliveries = deliveries;

    /// <summary>Messages that were accepted from the application.</summary>
    public long Published { get; internal init; }

    /// <summary>Messages that were not accepted: a queue was full.</summary>
    public long Refused { get; internal init; }

    /// <summary>Messages in the queue of publications, with <see cref="SpotNodeOptions.PublishQueueCapacity"/>.</summary>
    public int PublishQueued { get; internal init; }

    /// <summary>Accepted messages that this queue dropped: it was full, or the node was disposed.</summary>
    public long PublishDropped { get; internal init; }

    /// <summary>Messages that came from other nodes.</summary>
    public long Received { get; internal init; }

    /// <summary>Of these, what matched no subscription: a filter on the wire is a prefix, an exact subscription is not.</summary>
    public long Unmatched { get; internal init; }

    /// <summary>Of these, what has no topic or no part besides it.</summary>
    public long Malformed { get; internal init; }

    /// <summary>Of these, what has a topic of more than 255 bytes, which no node may publish. It is dropped.</summary>
    public long LongTopics { get; internal init; }

    /// <summary>Of these, what came by a second address of a node that is connected. It is dropped.</summary>
    public long Repeated { get; internal init; }

    /// <summary>How often the connection to a node was made again: <see cref="SpotGap"/>.</summary>
    public long Gaps { get; internal init; }

    /// <summary>Subscribers that are not disposed.</summary>
    public int Subscribers { get; internal init; }

    /// <summary>The sum over all subscribers, disposed ones too.</summary>
    public SpotSubscriberStatistics Deliveries { get; }

    /// <summary>Different texts that the node has asked its peers for.</summary>
    public int Filters { get; internal init; }

    /// <summary>Nodes that this one is connected to.</summary>
    public int Peers { get; internal init; }

    /// <summary>Nodes that are connected to this one.</summary>
    public int Followers { get; internal init; }

    /// <summary>Calls of handlers that threw.</summary>
    public long HandlerFaults { get; internal init; }
}

/// <summary>What one subscriber has got: a snapshot in which <see cref="Matched"/> is the sum of <see cref="Received"/>, <see
/// cref="Dropped"/> and <see cref="Queued"/>.</summary>
public sealed class SpotSubscriberStatistics
{
    internal SpotSubscriberStatistics()
    {
    }

    /// <summary>Messages that at least one of its subscriptions matched, each counted once.</summary>
    public long Matched { get; internal init; }

    /// <summary>Of these, what the application or its handler has received.</summary>
    public long Received { get; internal init; }

    /// <summary>Of these, what was dropped because the queue was full, or was unread when the subscriber was disposed.</summary>
    public long Dropped { get; internal init; }

    /// <summary>Of these, what waits in the queue.</summary>
    public int Queued { get; internal init; }

    /// <summary>Bytes that wait in the queue, topics included.</summary>
    public long QueuedBytes { get; internal init; }
}

/// <summary>Which message a subscriber's full queue drops.</summary>
public enum SpotOverflow
{
    /// <summary>The one that arrives, as the native core does.</summary>
    DropNewest = 0,

    /// <summary>The one that has waited longest.</summary>
    DropOldest,
}
