namespace Net.Zlink.Buffers;

/// <summary>Settings of a <see cref="BufferPool"/>, which copies them when it is made: later changes do not reach it.</summary>
/// <remarks>
/// The defaults warm about 1.4 MB and retain at most 64 MiB per class, for 30 idle seconds: for a small service, a client or a test.
/// </remarks>
/// <example>
/// <code>
/// var pool = new BufferPool(new BufferPoolOptions { ClassPolicies = BufferPoolOptions.ServerPolicies, LeakCheck = true });
/// </code>
/// </example>
public sealed class BufferPoolOptions
{
    /// <summary>
    /// Policies that warm about 63 MB and retain at most 256 MiB per class, for 5 idle minutes: for a server of up to 10,000 connections.
    /// </summary>
    public static IReadOnlyList<BufferClassPolicy> ServerPolicies { get; } = BufferPoolPresets.Server.AsReadOnly();

    /// <summary>
    /// One policy per size class, in the order of <see cref="BufferPool.ClassSizes"/>. Use <see cref="PerClass"/> to build the list.
    /// </summary>
    public IReadOnlyList<BufferClassPolicy> ClassPolicies { get; set; } = BufferPoolPresets.Default;

    /// <summary>
    /// The most bytes retained over all classes; the warm buffers always fit. 0 or more. Null (default): an eighth
    /// of the memory that the process may use, read when the pool is created; for a context's own pool at most half of
    /// <see cref="ZlinkContextOptions.QueuedByteLimit"/>. If an allocation fails, the pool drops what it retains beyond the warm buffers,
    /// and tries once more.
    /// </summary>
    public long? RetainedByteLimit { get; set; }

    /// <summary>
    /// Records who rented each buffer (<see cref="BufferPool.GetOutstanding"/>), and throws on a double return or a write after the return.
    /// Costs a stack trace per rent: for tests and leak searches. Off by default. Debug builds of the library always check double returns
    /// and late writes.
    /// </summary>
    public bool LeakCheck { get; set; }

    /// <summary>The clock of idle trimming and of the leak check. The system's clock by default.</summary>
    public TimeProvider TimeProvider { get; set; } = TimeProvider.System;

    /// <summary>Checks every option, as the pool does when it is made.</summary>
    /// <exception cref="ArgumentException">One has no allowed value. The message names it and says what it takes.</exception>
    public void Validate()
    {
        IReadOnlyList<BufferClassPolicy> policies = NotNull(ClassPolicies, nameof(ClassPolicies));
        if (policies.Count != SizeClasses.Count)
        {
            throw Invalid(nameof(ClassPolicies),
                $"takes {SizeClasses.Count} policies, one for each size class, not {policies.Count}; {nameof(PerClass)} builds them.");
        }

        for (int index = 0; index < SizeClasses.Count; index++)
        {
            if (BufferClassPolicy.ComplaintAbout(policies[index]) is { } complaint)
            {
                throw Invalid(nameof(ClassPolicies), $"has a policy for {SizeClasses.Sizes[index]} bytes that cannot be: {complaint}.");
            }
        }

        if (RetainedByteLimit < 0)
        {
            throw Invalid(nameof(RetainedByteLimit), $"takes 0 and above, or null for a part of the memory, not {RetainedByteLimit}.");
        }

        NotNull(TimeProvider, nameof(TimeProvider));
    }

    /// <summary>Builds a list of policies, smallest class first.</summary>
    /// <param name="policyOfSize">Returns the policy of a class, given its size in bytes.</param>
    /// <returns>A list for <see cref="ClassPolicies"/>, the caller's own.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="policyOfSize"/> is null.</exception>
    public static IReadOnlyList<BufferClassPolicy> PerClass(Func<int, BufferClassPolicy> policyOfSize)
    {
        ArgumentNullException.ThrowIfNull(policyOfSize);
        return Array.ConvertAll(SizeClasses.Sizes.ToArray(), size => policyOfSize(size));
    }

    private static long ShareOfMemory
    {
        get
        {
            const int PartOfMemory = 8;
            return GC.GetGCMemoryInfo(GCKind.Any).TotalAvailableMemoryBytes / PartOfMemory;
        }
    }

    /// <summary>A copy with a list of its own: the caller may change the other one at any time.</summary>
    internal BufferPoolOptions ValidCopy()
    {
        var copy = (BufferPoolOptions)MemberwiseClone();
        copy.ClassPolicies = ClassPolicies is null ? null! : [.. ClassPolicies];
        copy.Validate();
        return copy;
    }

    internal BufferPoolOptions ForQueuesOf(long? queuedByteLimit)
    {
        var copy = (BufferPoolOptions)MemberwiseClone();
        copy.RetainedByteLimit ??= queuedByteLimit is { } queued ? Math.Min(queued / 2, ShareOfMemory) : null;
        return copy;
    }

    internal long RetainedLimitOrDefault => Math.Max(
        ClassPolicies.Select(static (policy, index) => (long)policy.WarmCount * SizeClasses.Sizes[index]).Sum(),
        RetainedByteLimit ?? ShareOfMemory);

    private static T NotNull<T>(T value, string option)
        where T : class => value ?? throw new ArgumentNullException(option, $"{option} takes no null.");

    private static ArgumentOutOfRangeException Invalid(string option, string sentence) => new(option, $"{option} {sentence}");
}

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
    /// The most buffers retained while not rented. 0 (default) retains none. A buffer returned beyond the limit is left to the garbage
    /// collector.
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

/// <summary>
/// A limit reserves nothing: a pool retains at most what was once in use. Limits are high because a rejected buffer is pinned, and only a
/// full collection frees it.
/// </summary>
internal static class BufferPoolPresets
{
    private const int KiB = 1_024;
    private const int MiB = 1_024 * KiB;

    /// <summary>16 x 4,608 + 8 x 35,840 + 1 x 544,768 + 2 x 262,144 bytes = 1.4 MB warmed.</summary>
    internal static BufferClassPolicy[] Default { get; } = Build(static size => size switch
    {
        <= 1 * KiB => 16, // messages and tails of incomplete frames
        <= 8 * KiB => 8, // outbound arrays of a few busy connections
        <= 64 * KiB => 1,
        256 * KiB => 2, // receive slabs of a small machine's shards
        _ => 0, // a small service may never receive a large message
    }, keepBytes: 64 * MiB, keepCount: 16_384, TimeSpan.FromSeconds(30));

    /// <summary>
    /// 2,048 x 4,608 + 512 x 35,840 + 32 x 544,768 + 32 x 114,688 + 2,949,120 + 19 x 262,144 + 5,750,784 bytes = 62.6 MB warmed.
    /// </summary>
    internal static BufferClassPolicy[] Server { get; } = Build(static size => size switch
    {
        <= 1 * KiB => 2_048, // a fifth of 10,000 connections with an incomplete small frame, in each class
        <= 8 * KiB => 512, // outbound arrays in flight: limited by the shards, not by the connections
        16 * KiB or 32 * KiB or 64 * KiB => 64, // bursts, outbound and inproc; with 32 a flood still grew the pool
        <= 64 * KiB => 32, // copies of messages that consumers retain
        256 * KiB => 20, // receive slabs, also those of messages that consumers retain
        < MiB => 1, // large messages: one before the pool grows
        _ => 0, // 1 to 8 MB each: only for their senders
    }, keepBytes: 256 * MiB, keepCount: 65_536, TimeSpan.FromMinutes(5));

    private static BufferClassPolicy[] Build(Func<int, int> warmCount, int keepBytes, int keepCount, TimeSpan idle) =>
        Array.ConvertAll(SizeClasses.Sizes.ToArray(), size => new BufferClassPolicy
        {
            WarmCount = warmCount(size),
            KeepLimit = Math.Min(keepCount, keepBytes / size),
            TrimAfterIdle = idle,
        });
}
