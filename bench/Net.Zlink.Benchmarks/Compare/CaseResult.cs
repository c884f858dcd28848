namespace Net.Zlink.Benchmarks.Compare;

/// <summary>All rounds of one case, and what they say about the bars.</summary>
internal sealed record CaseResult(LoadCase Case, int Rounds, IReadOnlyList<Run> Runs, IReadOnlyList<BarResult> Bars)
{
    public static CaseResult Of(LoadCase what, int rounds, IReadOnlyList<Run> runs, IReadOnlyList<Bar> bars, string first) =>
        new(what, rounds, runs, BarResult.Of(runs, bars, first));

    public bool Failed => Runs.Any(run => !run.IsGood) || Bars.Any(bar => bar.Verdict is Verdict.Missed or Verdict.Void);

    public bool IsWithinNoise => Bars.Any(bar => bar.Verdict == Verdict.WithinNoise);
}
