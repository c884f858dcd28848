namespace Net.Zlink.Services;

/// <summary>One topic and who takes it: a snapshot that is true as long as the index has its version. A subscriber stands there once,
/// however many of its subscriptions match. Without bytes and text: all topics that these take and that are not remembered.</summary>
internal sealed record TopicEntry(byte[] Bytes, string? Text, SubscriberQueue[] Subscribers, int Version);
