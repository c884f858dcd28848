namespace Net.Zlink.Engine;

/// <summary>What the peers of all connections of a context make it hold, where there is no making them wait: messages that are not whole yet (no queue has them), and the topics of subscribers (cancelling one is theirs to do). Thread-safe.</summary>
/// <remarks>
/// So at the limit somebody's connection ends: of those that want more each that has more than its equal part of the limit. Peers with an ordinary message half in, or some ordinary topics, go on beside one that never comes to an end, up to
/// twice the limit in all.
/// </remarks>
/// <param name="limit">In bytes.</param>
internal sealed class FairLimit(long limit)
{
    /// <summary>What a connection may hold without being counted: more than the rest that a read of short messages leaves behind, and some twenty topics, so that most never come by here.</summary>
    public const int FreeAllowance = 16 * 1024;

    private long _bytes;
    private long _holders;

    public long Limit => limit;

    /// <summary>What is held now, on connections that hold <see cref="FreeAllowance"/> or more.</summary>
    public long Bytes => Volatile.Read(ref _bytes);

    /// <summary>For so many bytes; null for 0, which is no limit.</summary>
    public static FairLimit? Of(long limit) => limit == 0 ? null : new FairLimit(limit);

    /// <summary>Why a connection ends, and what to do about it.</summary>
    public string Words(string peers, string option) => $"{peers}, and all peers of the context together {Bytes}, of {Limit}: a larger {option} allows more";

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
