namespace Net.Zlink.Services;

/// <summary>The queue of a subscriber.</summary>
public sealed record SpotSubscriberOptions
{
    /// <summary>How many messages may wait. Default 100,000, as the native core has it.</summary>
    public int Capacity { get; init; } = 100_000;

    /// <summary>How many bytes may wait, topics included. A message always fits into an empty queue. Default 64 MiB.</summary>
    public long ByteLimit { get; init; } = 64 * 1024 * 1024;

    /// <summary>What is dropped when the queue is full. Default: the message that arrives.</summary>
    public SpotOverflow Overflow { get; init; }
}
