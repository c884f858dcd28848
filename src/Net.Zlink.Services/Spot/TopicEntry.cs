namespace Net.Zlink.Services;

/// <summary>One topic and who takes it: a snapshot that is true as long as the index has its version.</summary>
/// <param name="Text">The same as text, made once.</param>
/// <param name="Takers">Each subscriber once, however many of its subscriptions match.</param>
internal sealed record TopicEntry(byte[] Bytes, string Text, SubscriberQueue[] Takers, int Version);
