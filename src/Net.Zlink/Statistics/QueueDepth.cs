namespace Net.Zlink;

/// <summary>What waits in a queue at one moment.</summary>
/// <param name="Messages">Whole messages.</param>
/// <param name="Bytes">The bytes of these messages, frame headers included.</param>
public readonly record struct QueueDepth(long Messages, long Bytes);
