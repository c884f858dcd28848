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
    /// The most bytes retained over all classes, thread caches included; the warm buffers always fit. 0 or more. Null (default): an eighth
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

    private static T NotNull<T>(T value, string option)
        where T : class => value ?? throw new ArgumentNullException(option, $"{option} takes no null.");

    private static ArgumentOutOfRangeException Invalid(string option, string sentence) => new(option, $"{option} {sentence}");
}
