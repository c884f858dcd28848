using Net.Zlink.Benchmarks.Common;

namespace Net.Zlink.Benchmarks.Compare;

/// <summary>All rounds of one case, and what they say about the bars.</summary>
internal sealed record CaseResult(LoadCase Case, int Rounds, IReadOnlyList<Run> Runs, IReadOnlyList<BarResult> Bars)
{
    public static CaseResult Of(LoadCase what, int rounds, IReadOnlyList<Run> runs, IReadOnlyList<Bar> bars, string first) =>
        new(what, rounds, runs, BarResult.Of(runs, bars, first));

    public bool Failed => Runs.Any(run => !run.IsGood) || Bars.Any(bar => bar.Verdict is Verdict.Missed or Verdict.Void);

    public bool IsWithinNoise => Bars.Any(bar => bar.Verdict == Verdict.WithinNoise);
}

/// <summary>What was measured against one bar.</summary>
internal sealed record BarResult(Bar Bar, Verdict Verdict, Spread? Measured)
{
    public static IReadOnlyList<BarResult> Of(IReadOnlyList<Run> runs, IEnumerable<Bar> bars, string first) =>
        [.. bars.Select(bar => new BarResult(bar, Verdicts.Judge(runs, bar, first), Spread.Of(Verdicts.Rounds(runs, bar, first))))];

    /// <summary>The bar, what was measured, and the verdict, as a line.</summary>
    public override string ToString()
    {
        string measured = Measured is { } spread ? spread.ToString(Bar.IsRatio ? "0.00" : Bar.Metric.Format) : "nothing";
        return $"bar {Bar}: measured {measured}: {Verdict.InWords()}";
    }
}
