using Net.Zlink.Benchmarks.Common;
using Net.Zlink.Benchmarks.Compare;
using Net.Zlink.Scenarios.Patterns.Running;
using Net.Zlink.Scenarios.Results;

namespace Net.Zlink.Scenarios.Patterns;

/// <summary>All rounds of one case, and what they say about the bars.</summary>
internal sealed record PatternResult(PatternCase Case, IReadOnlyList<Run> Runs, IReadOnlyList<BarResult> Bars)
{
    /// <summary>Bars are about ours: the first of <paramref name="stacks"/> that is.</summary>
    public static PatternResult Of(PatternCase what, IReadOnlyList<PatternRow> rows, IEnumerable<Bar> bars, IReadOnlyList<string> stacks)
    {
        string ours = stacks.First(static stack => stack is not PatternStack.Native);
        Run[] runs = [.. rows.Select(RunOf)];
        return new PatternResult(what, runs, BarResult.Of(
            runs, bars.Where(bar => bar.IsAbout(what)).Select(bar => bar with { Server = ours }), PatternStack.Native));
    }

    public bool Failed => Runs.Any(run => !run.IsGood) || Bars.Any(bar => bar.Verdict is Verdict.Missed or Verdict.Void);

    public bool IsWithinNoise => Bars.Any(bar => bar.Verdict == Verdict.WithinNoise);

    /// <summary>The lines that programs read: medians.</summary>
    public IEnumerable<ResultLine> Lines(IEnumerable<string> stacks) =>
        from stack in stacks
        from figure in new[] { (Name: ResultLines.Throughput, Metric.Rate), (Name: ResultLines.Latency, Metric.Latency) }
        let median = Spread.Of(Ratios.Figures(Runs, stack, figure.Item2))?.Median
        where median is not null
        select new ResultLine(stack, Case.LineName, Case.Transport, Case.Size, figure.Name, median.Value);

    public IEnumerable<PatternVerdict> Verdicts() =>
        Bars.Select(bar => new PatternVerdict(Case.Name, bar.Bar.ToString(),
            bar.Measured?.ToString(bar.Bar.IsRatio ? "0.00" : bar.Bar.Metric.Format) ?? "nothing", Short(bar.Verdict)));

    /// <summary>What is doubtful about it; with any of these the case is void.</summary>
    public IEnumerable<string> Doubted(string control) => Doubts.Of(Runs, control, Metric.Rate).Select(doubt => $"{Case}: {doubt}");

    /// <summary>The table, then the bars, then what is wrong.</summary>
    public static void Print(IReadOnlyList<PatternResult> results, IReadOnlyList<string> stacks)
    {
        bool hasNative = stacks.Contains(PatternStack.Native, StringComparer.Ordinal);
        string[] ours = [.. stacks.Where(static stack => stack is not PatternStack.Native)];
        var table = new TextTable(
        [
            "pattern",
            .. stacks.Select(static stack => $"{stack}, msg/s"),
            .. hasNative ? ours.Select(static stack => $"{stack}, x native") : [],
            .. stacks.Select(static stack => $"{stack}, us"),
            .. hasNative ? ours.Select(static stack => $"{stack}, us, x native") : [],
            "verdict",
        ]);
        foreach (PatternResult result in results)
        {
            table.Add(
            [
                result.Case.Name,
                .. stacks.Select(stack => result.Figure(stack, Metric.Rate, "N0")),
                .. hasNative ? ours.Select(stack => result.Ratio(stack, Metric.Rate)) : [],
                .. stacks.Select(stack => result.Figure(stack, Metric.Latency, "0.0")),
                .. hasNative ? ours.Select(stack => result.Ratio(stack, Metric.Latency)) : [],
                result.Bars.Count == 0 ? (result.Failed ? "FAILED" : "-")
                    : string.Join(", ", result.Bars.Select(static bar => $"{bar.Bar.Metric.Name} {Short(bar.Verdict)}")),
            ]);
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
            foreach (Run run in result.Runs.Where(static run => !run.IsGood))
            {
                Console.WriteLine($"failed: {result.Case}, {run.Server}, round {run.Round}: {run.Fault}");
            }
        }
    }

    private static Run RunOf(PatternRow row) => new()
    {
        Server = row.Stack,
        Round = row.Round,
        Load = row.MessagesPerSecond is { } rate ? new LoadResult
        {
            Result = ResultRow.Pass,
            MessagesPerSecond = rate,
            Received = row.Messages
        } : null,
        Latency = row.LatencyMicroseconds,
        OthersPercent = row.OthersPercent,
        Fault = row.Fault,
    };

    private static string Short(Verdict verdict) => verdict switch
    {
        Verdict.Met => "met",
        Verdict.WithinNoise => "within noise",
        Verdict.Missed => "missed",
        _ => "void",
    };

    private string Figure(string stack, Metric metric, string format) =>
        Spread.Of(Ratios.Figures(Runs, stack, metric))?.Median.ToString(format, null) ?? "-";

    private string Ratio(string stack, Metric metric) => Spread.Of(Ratios.Of(Runs, stack, PatternStack.Native, metric))?.ToString("0.00")
        ?? "-";
}
