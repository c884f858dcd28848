using Net.Zlink.Benchmarks.Common;

namespace Net.Zlink.Scenarios.Results;

/// <summary>All rounds of one stack: medians with the lowest and the highest. Failed rounds count in <see cref="PassFail"/> and not in the
/// figures.</summary>
internal sealed record StackSummary
{
    public required string Stack { get; init; }

    /// <summary>PASS if every round passed.</summary>
    public required string PassFail { get; init; }

    public required int Rounds { get; init; }

    public required int Passed { get; init; }

    /// <summary>Null if no round passed; so are the others.</summary>
    public Spread? Throughput { get; init; }

    public Spread? P50 { get; init; }

    public Spread? P95 { get; init; }

    public Spread? P99 { get; init; }

    public Spread? ConnectSeconds { get; init; }

    public Spread? ServerCpuMicrosecondsPerMessage { get; init; }

    public Spread? ServerPeakMegabytes { get; init; }

    /// <summary>s1 only, as is the next.</summary>
    public Spread? IdlePercent { get; init; }

    public Spread? KilobytesPerConnection { get; init; }

    public Spread? ClientCpuMicrosecondsPerMessage { get; init; }

    /// <summary>To the first stack that ran, taken within each round; null for that stack itself.</summary>
    public StackRatios? Ratios { get; init; }
}

/// <summary>Ratios to the reference stack <paramref name="To"/>: above 1 is more of it.</summary>
internal sealed record StackRatios(string To, Spread? Throughput, Spread? P50, Spread? P99, Spread? ServerCpu, Spread? ServerPeak);
