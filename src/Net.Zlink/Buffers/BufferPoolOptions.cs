namespace Net.Zlink.Buffers;

/// <summary>
/// Settings of a <see cref="BufferPool"/>. Immutable; start from a preset: <c>BufferPoolOptions.Server with { LeakCheck = true }</c>.
/// </summary>
public sealed record BufferPoolOptions
{
    /// <summary>
    /// Warms about 1.4 MB and keeps at most 64 MiB a class, for 30 idle seconds: for a small service, a client or a test.
    /// </summary>
    public static BufferPoolOptions Default { get; } = new();

    /// <summary>
    /// Warms about 63 MB and keeps at most 256 MiB a class, for 5 idle minutes: for a server of up to 10,000 connections.
    /// </summary>
    public static BufferPoolOptions Server { get; } = new() { ClassPolicies = BufferPoolPresets.Server };

    /// <summary>
    /// One policy per size class, in the order of <see cref="BufferPool.ClassSizes"/>. <see cref="PerClass"/> builds such a list.
    /// </summary>
    /// <exception cref="ArgumentNullException">The list or one of its policies is null.</exception>
    /// <exception cref="ArgumentException">There is not exactly one policy per class, or one of them warms more than it keeps.</exception>
    public IReadOnlyList<BufferClassPolicy> ClassPolicies { get; init => field = Validated(value); } = BufferPoolPresets.Default;

    /// <summary>
    /// Remembers who rented each buffer (<see cref="BufferPool.GetOutstanding"/>) and throws on a double return and on a write after the
    /// return. Costs a stack trace per rent: for tests and for hunting a leak. Off by default; the two checks are always on in Debug
    /// builds of the library.
    /// </summary>
    public bool LeakCheck { get; init; }

    /// <summary>The clock that idle trimming and the leak check's times run on.</summary>
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

    /// <summary>Asks for the policy of each class, smallest first.</summary>
    /// <param name="policyOfSize">Given the size of a class in bytes, returns its policy.</param>
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

    // Copies: what was validated must be what the pool later reads.
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
