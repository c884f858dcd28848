using Net.Zlink.Benchmarks.Common;
using Net.Zlink.Benchmarks.Compare;

namespace Net.Zlink.Benchmarks.Patterns;

/// <summary>All rounds of one case, and what they say about the bars.</summary>
internal sealed record PatternResult(PatternCase Case, IReadOnlyList<Run> Runs, IReadOnlyList<BarResult> Bars)
{
    public static PatternResult Of(PatternCase what, IReadOnlyList<Run> runs, IEnumerable<Bar> bars) =>
        new(what, runs, BarResult.Of(runs, bars.Where(bar => bar.IsAbout(what)), PatternRunner.Native));

    public bool Failed => Runs.Any(run => !run.IsGood) || Bars.Any(bar => bar.Verdict is Verdict.Missed or Verdict.Void);

    public bool IsWithinNoise => Bars.Any(bar => bar.Verdict == Verdict.WithinNoise);

    /// <summary>The table, then the bars, then what is doubtful.</summary>
    public static void Print(IReadOnlyList<PatternResult> results)
    {
        var table = new TextTable("pattern", "ours msg/s", "native msg/s", "ratio", "ours us", "native us", "ratio", "verdict");
        foreach (PatternResult result in results)
        {
            table.Add(
                result.Case.Name,
                result.Figure(PatternProgram.Name, Metric.Rate, "N0"),
                result.Figure(PatternRunner.Native, Metric.Rate, "N0"),
                result.Ratio(Metric.Rate),
                result.Figure(PatternProgram.Name, Metric.Latency, "0.0"),
                result.Figure(PatternRunner.Native, Metric.Latency, "0.0"),
                result.Ratio(Metric.Latency),
                result.Bars.Count == 0 ? "-" : string.Join(", ", result.Bars.Select(bar => $"{bar.Bar.Metric.Name} {Short(bar.Verdict)}")));
        }

        Console.WriteLine(table);
        foreach (PatternResult result in results)
        {
            foreach (BarResult bar in result.Bars)
            {
                Console.WriteLine($"{result.Case}: {bar}");
            }
        }

        foreach (PatternResult result in results)
        {
            foreach (Run run in result.Runs.Where(run => !run.IsGood))
            {
                Console.WriteLine($"failed: {result.Case}, {run.Server}, round {run.Round}: {run.Fault}");
            }

            foreach (string doubt in Doubts.Of(result.Runs, PatternRunner.Native))
            {
                Console.WriteLine($"doubt: {result.Case}: {doubt}; this row is void, run it again on a quiet machine.");
            }
        }
    }

    private static string Short(Verdict verdict) => verdict switch
    {
        Verdict.Met => "met",
        Verdict.WithinNoise => "within noise",
        Verdict.Missed => "missed",
        _ => "void",
    };

    private string Figure(string program, Metric metric, string format) => Spread.Of(Ratios.Figures(Runs, program, metric))?.Median.ToString(format, null) ?? "-";

    private string Ratio(Metric metric) => Spread.Of(Ratios.Of(Runs, PatternProgram.Name, PatternRunner.Native, metric))?.ToString("0.00") ?? "-";
}
