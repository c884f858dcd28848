using Net.Zlink.Scenarios.Settings;

namespace Net.Zlink.Scenarios.Results;

/// <summary>What a run leaves behind: summary.json, and all that a report needs.</summary>
internal sealed record Summary
{
    public const int CurrentFormat = 1;

    /// <summary>Raised when a reader of older files would misunderstand.</summary>
    public int Format { get; init; } = CurrentFormat;

    /// <summary>scenario, patterns, multi or soak: which of the lists below are filled.</summary>
    public required string Kind { get; init; }

    /// <summary>The command line, as given.</summary>
    public required string Command { get; init; }

    public required DateTimeOffset Started { get; init; }

    public DateTimeOffset Finished { get; init; }

    /// <summary>PASS or FAIL of the whole run.</summary>
    public required string PassFail { get; init; }

    public required MachineInfo Machine { get; init; }

    public required VersionInfo Versions { get; init; }

    /// <summary>Environment variables that change what is measured.</summary>
    public required IReadOnlyDictionary<string, string> Environment { get; init; }

    /// <summary>Null for runs that are not scenarios.</summary>
    public ScenarioSettings? Settings { get; init; }

    /// <summary>How the run was done: profile, order, pinning.</summary>
    public RunPlan? Plan { get; init; }

    /// <summary>Every round of every stack, in the order in which they ran.</summary>
    public IReadOnlyList<Round> Rounds { get; init; } = [];

    /// <summary>One entry per stack that ran.</summary>
    public IReadOnlyList<StackSummary> Stacks { get; init; } = [];

    /// <summary>Stacks that could not run here, and why.</summary>
    public IReadOnlyList<SkippedStack> Skipped { get; init; } = [];

    /// <summary>Reasons not to trust the figures; with any of them the table is void (docs/benchmarks/scenarios.md).</summary>
    public IReadOnlyList<string> Doubts { get; init; } = [];

    /// <summary>What could not be looked at here, and why: no reason to distrust the figures, and none to trust them.</summary>
    public IReadOnlyList<string> Unjudged { get; init; } = [];

    /// <summary>Of patterns and multi.</summary>
    public IReadOnlyList<PatternRow> Patterns { get; init; } = [];

    /// <summary>What the patterns had to reach.</summary>
    public IReadOnlyList<PatternVerdict> Bars { get; init; } = [];

    /// <summary>Of soak.</summary>
    public SoakResult? Soak { get; init; }
}

/// <summary>How a run was done.</summary>
/// <param name="Profile">fixed, quick, with what was changed in <see cref="Summary.Settings"/>.</param>
/// <param name="Rounds">Rounds of each stack; every other one runs backwards.</param>
/// <param name="Stacks">Stacks asked for, in order; the ratios are to the first that ran.</param>
/// <param name="ServerProcessors">The processors that servers were pinned to, as taskset takes them; null if not pinned.</param>
/// <param name="ClientProcessors">Those of the client.</param>
/// <param name="Pinning">In words, and why not, if not.</param>
/// <param name="DescriptorLimit">Open files that each child may have.</param>
internal sealed record RunPlan(
    string Profile, int Rounds, IReadOnlyList<string> Stacks, string? ServerProcessors, string? ClientProcessors, string Pinning,
        long DescriptorLimit);

/// <summary>A stack that was asked for and could not run.</summary>
internal sealed record SkippedStack(string Stack, string Why);
