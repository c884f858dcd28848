namespace Net.Zlink.Engine;

/// <summary>What has come, on all connections of a context, of messages that are not whole yet: parts without a last one, and frames of which some is still on its way. Thread-safe.</summary>
/// <remarks>
/// No queue has these, so the rule of none applies; and a peer that has begun a message cannot be made to wait for room, since only its end makes some. So at the limit somebody's connection ends: of those that want more each that has more
/// than its equal part of the limit. Peers with an ordinary message half in go on beside one that never ends its own, up to twice the limit in all.
/// </remarks>
/// <param name="limit">In bytes.</param>
internal sealed class UnfinishedBytes(long limit)
{
    /// <summary>What a connection may hold without being counted: more than the rest that a read of short messages leaves behind, so that these never come by here.</summary>
    public const int Free = 16 * 1024;

    private long _bytes;
    private long _holders;

    public long Limit => limit;

    /// <summary>What is held now, on connections that hold <see cref="Free"/> or more.</summary>
    public long Bytes => Volatile.Read(ref _bytes);

    /// <summary>For so many bytes; null for 0, which is no limit.</summary>
    public static UnfinishedBytes? Of(long limit) => limit == 0 ? null : new UnfinishedBytes(limit);

    /// <summary>Notes that a connection holds more, or less, than it did.</summary>
    /// <param name="before">What it held.</param>
    /// <param name="now">What it holds; not the same.</param>
    /// <returns>False: it holds too much, and has to end. It is counted until it says that it has let go.</returns>
    public bool TryChange(long before, long now)
    {
        long holders = before == 0 ? Interlocked.Increment(ref _holders)
            : now == 0 ? Interlocked.Decrement(ref _holders)
            : Volatile.Read(ref _holders);
        long bytes = Interlocked.Add(ref _bytes, now - before);
        return now < before || bytes <= limit || (bytes <= 2 * limit && now <= limit / holders);
    }
}
