namespace Net.Zlink.Buffers;

/// <summary>
/// For one size class of a <see cref="BufferPool"/>: the buffers created in advance, the most that are retained, and when unused ones are
/// dropped. Immutable; <see cref="BufferPoolOptions.Validate"/> checks it.
/// </summary>
public sealed class BufferClassPolicy
{
    /// <summary>
    /// Buffers created, with every page touched, when the pool is built. Idle trimming and <see cref="BufferPool.Trim"/> leave as many. 0
    /// (default) or more, at most <see cref="KeepLimit"/>.
    /// </summary>
    public int WarmCount { get; init; }

    /// <summary>
    /// The most buffers retained while not rented, thread caches included. 0 (default) retains none. A buffer returned beyond the limit is
    /// left to the garbage collector.
    /// </summary>
    public int KeepLimit { get; init; }

    /// <summary>
    /// A retained buffer that was not needed for this long is dropped, at the latest after twice this time. Above zero and at most 49 days,
    /// or <see cref="Timeout.InfiniteTimeSpan"/> (default) for never.
    /// </summary>
    public TimeSpan TrimAfterIdle { get; init; } = Timeout.InfiniteTimeSpan;

    internal bool TrimsWhenIdle => TrimAfterIdle != Timeout.InfiniteTimeSpan;

    /// <summary>What is wrong with a policy, as the end of a sentence, or null.</summary>
    internal static string? ComplaintAbout(BufferClassPolicy? policy)
    {
        // 49.7 days, 2^32 - 2 milliseconds, is the limit of System.Threading.Timer.
        return policy is null ? "it is null"
            : policy.WarmCount < 0 ? $"{nameof(WarmCount)} takes 0 and above, not {policy.WarmCount}"
            : policy.KeepLimit < policy.WarmCount
                ? $"{nameof(KeepLimit)} takes {nameof(WarmCount)} ({policy.WarmCount}) and above, not {policy.KeepLimit}"
            : policy.TrimsWhenIdle && (policy.TrimAfterIdle <= TimeSpan.Zero || policy.TrimAfterIdle.TotalMilliseconds > uint.MaxValue - 1)
                ? $"{nameof(TrimAfterIdle)} takes a time above TimeSpan.Zero and at most 49 days, or "
                    + $"Timeout.InfiniteTimeSpan to keep idle buffers forever, not {policy.TrimAfterIdle}"
            : null;
    }
}
