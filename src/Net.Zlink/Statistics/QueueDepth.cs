namespace Net.Zlink;

/// <summary>The fill of a queue at one moment.</summary>
/// <param name="Messages">Whole messages.</param>
/// <param name="Bytes">Their bytes, with frame headers.</param>
public readonly record struct QueueDepth(long Messages, long Bytes);
