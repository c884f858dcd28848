using System.Diagnostics;
using System.Globalization;
using Net.Zlink.Benchmarks.Common;
using Net.Zlink.Benchmarks.Compare;

namespace Net.Zlink.Benchmarks.Patterns;

/// <summary>Runs our program, and the native one beside it, in rounds.</summary>
/// <param name="Counts">How many messages.</param>
/// <param name="NativeFolder">Where the native programs are; null: only ours runs.</param>
/// <param name="Rounds">That count.</param>
/// <param name="Discarded">Before them.</param>
/// <param name="Compile">See <see cref="PatternProgram"/>.</param>
/// <param name="Api">single or batch.</param>
/// <param name="InlineCompletions">The runtime's switch, for ours.</param>
internal sealed record PatternRunner(PatternCounts Counts, string? NativeFolder, int Rounds, int Discarded, int Compile, string Api, bool InlineCompletions)
{
    public const string Native = "native";

    public async Task<List<Run>> RunAsync(PatternCase what, CancellationToken cancellation)
    {
        string[] programs = NativeFolder is null ? [PatternProgram.Name] : [Native, PatternProgram.Name];
        var runs = new List<Run>();
        for (int round = 1 - Discarded; round <= Rounds; round++)
        {
            // Back and forth: what drifts (heat, neighbours) then falls on both alike.
            foreach (string program in round % 2 == 0 ? programs.Reverse() : programs)
            {
                Run run = await RunAsync(what, program, round, cancellation);
                Console.Error.WriteLine($"{what} {(round > 0 ? $"round {round} of {Rounds}" : "round not counted")}, {program}: {run.Fault ?? $"{Metric.Rate.Of(run):N0} msg/s, {run.Latency:0.0} us"}");
                if (round > 0)
                {
                    runs.Add(run);
                }
            }
        }

        return runs;
    }

    private static string Text(int number) => number.ToString(CultureInfo.InvariantCulture);

    private async Task<Run> RunAsync(PatternCase what, string program, int round, CancellationToken cancellation)
    {
        bool native = string.Equals(program, Native, StringComparison.Ordinal);
        MeasuredFigures figures = await MeasuringProcess.RunAsync(native ? NativeInfo(what) : OwnInfo(what), "throughput", cancellation);

        // What a native publisher prints as its latency is the inverse of its throughput.
        bool hasLatency = !string.Equals(what.Pattern, PatternNames.PubSub, StringComparison.Ordinal);
        return new Run
        {
            Server = program,
            Round = round,
            Load = figures.Find("throughput") is { } rate ? new LoadResult { Result = "PASS", MessagesPerSecond = rate } : null,
            Latency = hasLatency ? figures.Find("latency") : null,
            OthersPercent = figures.OthersPercent,
            Fault = figures.Fault,
        };
    }

    private ProcessStartInfo NativeInfo(PatternCase what)
    {
        string program = Path.Combine(NativeFolder!, PatternNames.NativeProgram(what.Pattern));
        var info = new ProcessStartInfo(program, [Native, what.Transport, Text(what.Size)]);
        foreach ((string variable, string value) in Counts.NativeVariables(what))
        {
            info.Environment[variable] = value;
        }

        return info;
    }

    private ProcessStartInfo OwnInfo(PatternCase what)
    {
        string[] arguments =
        [
            PatternRunCommand.Name,
            "--pattern", what.Pattern,
            "--transport", what.Transport,
            "--size", Text(what.Size),
            "--messages", Text(Counts.MessagesOf(what)),
            "--warm-up", Text(Counts.WarmUp),
            "--round-trips", Text(Counts.RoundTripsOf(what)),
            "--compile", Text(Compile),
            "--api", Api,
        ];
        return Self.StartInfo(InlineCompletions, arguments);
    }
}
