using Net.Zlink.Benchmarks.Common;

namespace Net.Zlink.Benchmarks.Compare;

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
