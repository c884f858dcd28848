using System.CommandLine;
using System.Globalization;
using Net.Zlink.Scenarios.Patterns.Running;
using Net.Zlink.Scenarios.Results;

namespace Net.Zlink.Scenarios.Patterns;

/// <summary>What a run of patterns says and leaves behind.</summary>
internal sealed class PatternReport(ParseResult request, PatternRunner runner, string? whyNotNative)
{
    // What a process takes to start, settle and end, beside its time to compile and what it measures.
    private const double SecondsPerProcess = 1.5;

    // As a rule, whatever it may take at most.
    private const double SecondsToCompile = 4;

    private readonly DateTimeOffset _started = TimeProvider.System.GetUtcNow();
    private readonly MachineInfo _machine = MachineInfo.Collect();
    private readonly List<PatternResult> _results = [];
    private readonly List<PatternRow> _rows = [];
    private readonly List<SkippedStack> _skipped = [];

    public bool Failed => _results.Exists(static result => result.Failed);

    public bool IsWithinNoise => _results.Exists(static result => result.IsWithinNoise);

    public void Begin(IReadOnlyCollection<PatternCase> cases)
    {
        if (whyNotNative is not null)
        {
            _skipped.Add(new SkippedStack(PatternStack.Native, whyNotNative));
        }

        if (runner.Quiet)
        {
            return;
        }

        int processes = cases.Count * runner.Stacks.Count * (runner.Rounds + runner.Discarded);
        double minutes = processes * (SecondsPerProcess + Math.Min(runner.Compile / 1000.0, SecondsToCompile)) / 60;
        Console.Error.WriteLine(_machine.ToString());
        Console.Error.WriteLine(
            $"{runner.Rounds} rounds after {runner.Discarded} not counted, order reversed every other one; messages "
            + $"{Said(runner.Counts.Small)}, above {PatternCounts.SmallSize} B {Said(runner.Counts.Large)}, round trips "
            + $"{Said(runner.Counts.RoundTrips)}; inline completions {(runner.InlineCompletions ? "on" : "off")}");
        Console.Error.WriteLine(
            whyNotNative ?? $"native: {(runner.NativePrograms is null ? "called from a .NET process like ours" : "its own programs")}");
        Console.Error.WriteLine(string.Create(CultureInfo.InvariantCulture,
            $"{cases.Count} cases, {processes} processes: about {Math.Ceiling(minutes):0} minutes"));
    }

    /// <summary>One case is through.</summary>
    public void Add(PatternResult result, IEnumerable<PatternRow> rows, IEnumerable<SkippedStack> skipped)
    {
        _rows.AddRange(rows);
        foreach (ResultLine line in result.Lines(runner.Stacks))
        {
            Console.WriteLine(line);
        }

        foreach (SkippedStack one in skipped)
        {
            _skipped.Add(one);
            Console.WriteLine($"skipped: {one.Stack}: {one.Why}");
        }

        // One that no stack could run is not there, but for a bar: that is void, and not met.
        if (result.Runs.Count > 0 || result.Bars.Count > 0)
        {
            _results.Add(result);
        }

        if (runner.Quiet)
        {
            foreach (Benchmarks.Compare.Run run in result.Runs.Where(static run => !run.IsGood))
            {
                Console.WriteLine($"FAILED {result.Case}, {run.Server}, round {run.Round}: {run.Fault}");
            }
        }
    }

    public void End(DirectoryInfo? folder)
    {
        string[] doubts = [.. _results.SelectMany(result => result.Doubted(runner.Stacks[0]))];
        if (!runner.Quiet)
        {
            Console.WriteLine();
            PatternResult.Print(_results, runner.Stacks);
            foreach (string doubt in doubts)
            {
                Console.WriteLine($"doubt: {doubt}; this row is void, run it again on a quiet machine.");
            }
        }

        if (folder is not null)
        {
            folder.Create();
            SummaryFile.Write(Path.Combine(folder.FullName, SummaryFile.Name), ToSummary(doubts));
        }
    }

    private static string Said(int? count) => count?.ToString("N0", CultureInfo.InvariantCulture) ?? "as native";

    private Summary ToSummary(string[] doubts) => new()
    {
        Kind = request.CommandResult.Command.Name,
        Command = string.Join(' ', request.Tokens.Select(static token => token.Value)),
        Started = _started,
        Finished = TimeProvider.System.GetUtcNow(),
        PassFail = Failed ? ResultRow.Fail : ResultRow.Pass,
        Machine = _machine,
        Versions = VersionInfo.Collect(),
        Environment = EnvironmentVariables.Collect(),
        Skipped = _skipped,
        Doubts = doubts,
        Patterns = _rows,
        Bars = [.. _results.SelectMany(static result => result.Verdicts())],
    };
}
