using System.Diagnostics;
using System.Globalization;
using Net.Zlink.Benchmarks.Common;
using Net.Zlink.Scenarios.Patterns.Running;
using Net.Zlink.Scenarios.Results;

namespace Net.Zlink.Scenarios.Patterns;

/// <summary>Runs each stack in turn, each time in a new process, in rounds.</summary>
/// <param name="Stacks">Of <see cref="PatternStack"/>.</param>
/// <param name="Counts">How many messages.</param>
/// <param name="NativePrograms">The folder of the native library's own programs, to run these instead of calling it; null:
/// P/Invoke.</param>
/// <param name="Rounds">That count.</param>
/// <param name="Discarded">Before them.</param>
/// <param name="Compile">See <see cref="PatternRun"/>.</param>
/// <param name="InlineCompletions">The runtime's switch, for ours.</param>
/// <param name="Quiet">Nothing about progress.</param>
internal sealed record PatternRunner(IReadOnlyList<string> Stacks, PatternCounts Counts, string? NativePrograms, int Rounds, int Discarded,
    int Compile, bool InlineCompletions, bool Quiet)
{
    // What a stack cannot do with one size it cannot with any.
    private readonly HashSet<(string Stack, string Pattern, string Transport)> _refused = [];

    /// <summary>All rounds of one case, and the stacks that cannot run it, each once for all sizes.</summary>
    public async Task<(List<PatternRow> Rows, List<SkippedStack> Skipped)> RunAsync(PatternCase what, CancellationToken cancellation)
    {
        var rows = new List<PatternRow>();
        var skipped = new List<SkippedStack>();
        for (int round = 1 - Discarded; round <= Rounds; round++)
        {
            // Back and forth: what drifts (heat, neighbours) then falls on all alike.
            foreach (string stack in (round % 2 == 0 ? Stacks.Reverse() : Stacks)
                .Where(stack => !_refused.Contains((stack, what.Pattern, what.Transport))))
            {
                (PatternRow row, string? unsupported) = await RunAsync(what, stack, round, cancellation);
                Report(what, stack, round, row, unsupported);
                if (unsupported is not null)
                {
                    _refused.Add((stack, what.Pattern, what.Transport));
                    skipped.Add(new SkippedStack($"{stack}, {what.Pattern} over {what.Transport}", unsupported));
                }
                else if (round > 0)
                {
                    rows.Add(row);
                }
            }
        }

        return (rows, skipped);
    }

    private static string Text(int number) => number.ToString(CultureInfo.InvariantCulture);

    private void Report(PatternCase what, string stack, int round, PatternRow row, string? unsupported)
    {
        if (!Quiet)
        {
            string figures = row.LatencyMicroseconds is { } latency ? $"{row.MessagesPerSecond:N0} msg/s, {latency:0.0} us"
                : $"{row.MessagesPerSecond:N0} msg/s";
            Console.Error.WriteLine($"{what} {(round > 0 ? $"round {round} of {Rounds}"
                : "round not counted")}, {stack}: {unsupported ?? row.Fault ?? figures}");
        }
    }

    private async Task<(PatternRow Row, string? Unsupported)> RunAsync(
        PatternCase what, string stack, int round, CancellationToken cancellation)
    {
        bool native = stack is PatternStack.Native;
        ProcessStartInfo info = native && NativePrograms is not null ? ProgramInfo(what) : OwnInfo(what, stack);
        MeasuredFigures figures = await MeasuringProcess.RunAsync(info, ResultLines.Throughput, cancellation);

        // What a native publisher prints as its latency is the inverse of its throughput.
        bool hasLatency = what.Pattern is not PatternNames.PubSub;
        var row = new PatternRow
        {
            Stack = stack,
            Pattern = what.Pattern,
            Transport = what.Transport,
            Size = what.Size,
            Api = PatternStack.ApiOf(stack),
            Round = round,
            Clients = what.Clients,
            Messages = native ? Counts.NativeMessagesOf(what) : Counts.MessagesOf(what),
            MessagesPerSecond = figures.Find(ResultLines.Throughput),
            LatencyMicroseconds = hasLatency ? figures.Find(ResultLines.Latency) : null,
            OthersPercent = figures.OthersPercent,
            Fault = figures.Fault,
        };
        return (row, figures.Unsupported);
    }

    private ProcessStartInfo ProgramInfo(PatternCase what)
    {
        var info = new ProcessStartInfo(Path.Combine(NativePrograms!, PatternNames.NativeProgram(what.Pattern)),
            [PatternStack.Native, what.Transport, Text(what.Size)]);
        foreach ((string variable, string value) in Counts.NativeVariables(what))
        {
            info.Environment[variable] = value;
        }

        return info;
    }

    private ProcessStartInfo OwnInfo(PatternCase what, string stack) => Self.StartInfo(
        InlineCompletions,
        PatternRunCommand.Name,
        "--pattern", what.Pattern,
        "--transport", what.Transport,
        "--size", Text(what.Size),
        "--clients", Text(what.Clients),
        "--stack", stack,
        "--count", Text(stack is PatternStack.Native ? Counts.NativeMessagesOf(what) : Counts.MessagesOf(what)),
        "--warm-up", Text(Counts.WarmUp),
        "--round-trips", Text(Counts.RoundTripsOf(what)),
        "--compile", Text(Compile));
}
