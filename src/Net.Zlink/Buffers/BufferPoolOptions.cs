namespace Net.Zlink.Buffers;

/// <summary>Settings of a <see cref="BufferPool"/>. Immutable.</summary>
/// <example><code>var pool = new BufferPool(BufferPoolOptions.Server with { LeakCheck = true });</code></example>
public sealed record BufferPoolOptions
{
    /// <summary>
    /// Warms about 1.4 MB and retains at most 64 MiB per class, for 30 idle seconds: for a small service, a client or a test.
    /// </summary>
    public static BufferPoolOptions Default { get; } = new();

    /// <summary>
    /// Warms about 63 MB and retains at most 256 MiB per class, for 5 idle minutes: for a server of up to 10,000 connections.
    /// </summary>
    public static BufferPoolOptions Server { get; } = new() { ClassPolicies = BufferPoolPresets.Server };

    /// <summary>
    /// One policy per size class, in the order of <see cref="BufferPool.ClassSizes"/>. Use <see cref="PerClass"/> to build the list.
    /// </summary>
    /// <exception cref="ArgumentNullException">The list or one of its policies is null.</exception>
    /// <exception cref="ArgumentException">The number of policies is wrong, or a policy's warm count is above its limit.</exception>
    public IReadOnlyList<BufferClassPolicy> ClassPolicies { get; init => field = Validated(value); } = BufferPoolPresets.Default;

    /// <summary>
    /// The most bytes retained over all classes, thread caches included; the warm buffers always fit. Null (default): an eighth of the
    /// memory that the process may use, read when the pool is created; for a context's own pool at most half of
    /// <see cref="ZlinkContextOptions.QueuedByteLimit"/>. If an allocation fails, the pool drops what it retains beyond the warm buffers,
    /// and tries once more.
    /// </summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is negative.</exception>
    public long? RetainedByteLimit
    {
        get;
        init
        {
            if (value is { } bytes)
            {
                ArgumentOutOfRangeException.ThrowIfNegative(bytes, nameof(value));
            }

            field = value;
        }
    }

    /// <summary>
    /// Records who rented each buffer (<see cref="BufferPool.GetOutstanding"/>), and throws on a double return or a write after the return.
    /// Costs a stack trace per rent: for tests and leak searches. Off by default. Debug builds of the library always check double returns
    /// and late writes.
    /// </summary>
    public bool LeakCheck { get; init; }

    /// <summary>The clock of idle trimming and of the leak check. The system's clock by default.</summary>
    /// <exception cref="ArgumentNullException">The value is null.</exception>
    public TimeProvider TimeProvider
    {
        get;
        init
        {
            ArgumentNullException.ThrowIfNull(value);
            field = value;
        }
    } = TimeProvider.System;

    /// <summary>Builds a list of policies, smallest class first.</summary>
    /// <param name="policyOfSize">Returns the policy of a class, given its size in bytes.</param>
    /// <returns>A list for <see cref="ClassPolicies"/>.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="policyOfSize"/> is null.</exception>
    public static IReadOnlyList<BufferClassPolicy> PerClass(Func<int, BufferClassPolicy> policyOfSize)
    {
        ArgumentNullException.ThrowIfNull(policyOfSize);
        var policies = new BufferClassPolicy[SizeClasses.Count];
        for (int index = 0; index < policies.Length; index++)
        {
            policies[index] = policyOfSize(SizeClasses.Sizes[index]);
        }

        return policies;
    }

    private static long ShareOfMemory
    {
        get
        {
            const int PartOfMemory = 8;
            return GC.GetGCMemoryInfo(GCKind.Any).TotalAvailableMemoryBytes / PartOfMemory;
        }
    }

    internal BufferPoolOptions ForQueuesOf(long? queuedByteLimit) => RetainedByteLimit is null && queuedByteLimit is { } queued
        ? this with { RetainedByteLimit = Math.Min(queued / 2, ShareOfMemory) } : this;

    internal long RetainedLimitOrDefault
    {
        get
        {
            long warm = 0;
            for (int index = 0; index < SizeClasses.Count; index++)
            {
                warm += (long)ClassPolicies[index].WarmCount * SizeClasses.Sizes[index];
            }

            return Math.Max(warm, RetainedByteLimit ?? ShareOfMemory);
        }
    }

    private static BufferClassPolicy[] Validated(IReadOnlyList<BufferClassPolicy> value)
    {
        ArgumentNullException.ThrowIfNull(value);
        BufferClassPolicy[] policies = [.. value];
        if (policies.Length != SizeClasses.Count)
        {
            throw new ArgumentException(
                $"There are {SizeClasses.Count} size classes, but {policies.Length} policies were given; PerClass builds one for each.",
                nameof(value));
        }

        for (int index = 0; index < policies.Length; index++)
        {
            BufferClassPolicy policy = policies[index]
                ?? throw new ArgumentNullException(nameof(value), $"The policy of the class of {SizeClasses.Sizes[index]} bytes is null.");
            if (policy.WarmCount > policy.KeepLimit)
            {
                throw new ArgumentException(
                    $"The class of {SizeClasses.Sizes[index]} bytes warms {policy.WarmCount} buffers but keeps only {policy.KeepLimit}: "
                    + "raise KeepLimit or lower WarmCount.",
                    nameof(value));
            }
        }

        return policies;
    }
}
