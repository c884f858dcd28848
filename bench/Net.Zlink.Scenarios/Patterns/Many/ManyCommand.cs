using System.CommandLine;
using System.Globalization;
using System.Text.Json;
using Net.Zlink.Benchmarks.Common;
using Net.Zlink.Benchmarks.Compare;

namespace Net.Zlink.Scenarios.Patterns.Many;

/// <summary>Does a message cost more when it comes from one of many peers?</summary>
internal static class ManyCommand
{
    private const int WithinNoise = 3;

    private const string One = "one";
    private const string Many = "many";

    // A sixth of a second of one dealer at full speed is too short to be counted in hundredths of a second of processor time; this is some
    // seconds.
    private const int DefaultMessages = 5_000_000;

    private const int DefaultWarmUp = 500_000;

    public static Option<int> Messages() => new Option<int>(
        "--messages")
    { Description = "Messages measured per run.", DefaultValueFactory = _ => DefaultMessages }.AtLeast(1);

    public static Option<int> WarmUp() => new Option<int>(
        "--warm-up")
    {
        Description =
        "Messages before that, not measured; again and again until the runtime has compiled the code for good.",
        DefaultValueFactory = _ => DefaultWarmUp
    }.AtLeast(1);

    public static Option<int> Size() => new Option<int>(
        "--size")
    { Description = "Bytes of one message.", DefaultValueFactory = _ => 64 }.AtLeast(1);

    public static Option<int> Burst() => new Option<int>(
        "--burst")
    { Description = "Messages that a dealer sends before it is the next one's turn.", DefaultValueFactory = _ => 1 }.AtLeast(
        1);

    public static Command Create()
    {
        Option<int> dealers = new Option<int>("--dealers") { Description = "How many are many.", DefaultValueFactory = _ => 1_000 }.AtLeast(
            1);
        Option<int> messages = Messages();
        Option<int> warmUp = WarmUp();
        Option<int> size = Size();
        Option<int> burst = Burst();
        Option<int> rounds = new Option<int>("--rounds") { Description = "Rounds that count.", DefaultValueFactory = _ => 5 }.AtLeast(1);
        Option<int> discard = new Option<int>("--discard")
        {
            Description = "Rounds before them that do not.",
            DefaultValueFactory = _ => 1
        }.AtLeast(0);
        var bars = new Option<string[]>("--bar")
        {
            Description = "What must be reached, repeatable.",
            DefaultValueFactory = _ => ["many:cpu<=1.5x"]
        };
        var inline = new Option<bool>("--inline-completions") { Description = "With the runtime's inline completions on." };
        var json = new Option<FileInfo?>("--json") { Description = "Also write every run to this file." };
        var command = new ExampleCommand(
            "many",
            "1,000 DEALERs to one ROUTER over tcp beside one DEALER to one ROUTER: processor time per message, and throughput, in "
                + "alternating rounds. Exit code 0: the bar is met; 1: it is missed; 3: it is within the noise.",
            "... many",
            "... many --burst 30 --bar \"many:cpu<=1.5x\" --bar \"many:rate>=0.66x\"");
        foreach (Option option in new Option[] { dealers, messages, warmUp, size, burst, rounds, discard, bars, inline, json })
        {
            command.Add(option);
        }

        command.SetAction(async (request, cancellation) =>
        {
            var runner = new ManyRunner(
                request.GetValue(dealers), request.GetValue(messages), request.GetValue(warmUp), request.GetValue(size),
                    request.GetValue(burst), request.GetValue(inline));
            return await RunAsync(runner, request.GetValue(rounds), request.GetValue(discard), [.. request.GetValue(bars)!.Select(Parse)],
                request.GetValue(json), cancellation);
        });
        return command;
    }

    private static Bar Parse(string text)
    {
        Bar bar = Bar.Parse(text);
        return bar.Server is One or Many && bar.Reference is null or One or Many && bar.Case is null
            && (bar.Metric == Metric.Rate || bar.Metric == Metric.Cpu)
            ? bar
            : throw new RequestException($"The bar '{text}' is not understood. Write many:cpu<=1.5x or many:rate>=0.66x.");
    }

    private static async Task<int> RunAsync(ManyRunner runner, int rounds, int discard, Bar[] bars, FileInfo? json,
        CancellationToken cancellation)
    {
        runner.CheckLimits();
        OutputCheck.File(json);
        var machine = new Machine();
        Console.WriteLine(machine);
        Console.WriteLine(string.Create(
            CultureInfo.InvariantCulture,
            $"{runner.Dealers:N0} DEALERs to one ROUTER (many) beside one (one), tcp, {runner.Size} B, {runner.Burst} a turn; "
                + $"{runner.WarmUp:N0} messages to warm up, {runner.Messages:N0} measured; {rounds} rounds after {discard} not counted, "
                + $"order reversed every other one; inline completions {(runner.InlineCompletions ? "on" : "off")}"));
        Console.WriteLine();
        var runs = new List<Run>();
        for (int round = 1 - discard; round <= rounds; round++)
        {
            foreach (string side in round % 2 == 0 ? new[] { Many, One } : [One, Many])
            {
                Run run = await runner.RunAsync(side, string.Equals(side, One, StringComparison.Ordinal) ? 1 : runner.Dealers, round,
                    cancellation);
                string which = round > 0 ? $"round {round} of {rounds}" : "round not counted";
                string figures = $"{Metric.Rate.Of(run):N0} msg/s, {Metric.Cpu.Of(run):0.000} us of processor time per message";
                Console.Error.WriteLine($"{which}, {side}: {run.Fault ?? figures}");
                if (round > 0)
                {
                    runs.Add(run);
                }
            }
        }

        IReadOnlyList<BarResult> results = BarResult.Of(runs, bars, One);
        Print(runs, results);
        if (json is not null)
        {
            await File.WriteAllTextAsync(json.FullName,
                JsonSerializer.Serialize(new { machine, runner, discard, runs, bars = results }, JsonOutput.Options), cancellation);
        }

        return results.Any(result => result.Verdict is Verdict.Missed or Verdict.Void) || runs.Any(run => !run.IsGood)
            ? CommandLineProgram.Failed
            : results.Any(result => result.Verdict == Verdict.WithinNoise) ? WithinNoise : 0;
    }

    private static void Print(List<Run> runs, IReadOnlyList<BarResult> results)
    {
        var table = new TextTable("dealers", "msg/s", "cpu us/msg", "msg/s, ratio", "cpu, ratio");
        foreach (string side in new[] { One, Many })
        {
            table.Add(side, Figures(side, Metric.Rate, "N0"), Figures(side, Metric.Cpu, "0.000"), Ratio(side, Metric.Rate),
                Ratio(side, Metric.Cpu));
        }

        Console.WriteLine(table);
        foreach (BarResult result in results)
        {
            Console.WriteLine(result);
        }

        foreach (Run run in runs.Where(run => !run.IsGood))
        {
            Console.WriteLine($"failed: {run.Server}, round {run.Round}: {run.Fault}");
        }

        foreach (string doubt in Doubts.Of(runs, One, Metric.Rate))
        {
            Console.WriteLine($"doubt: {doubt}; this table is void, run it again on a quiet machine.");
        }

        string Figures(string side, Metric metric, string format) => Spread.Of(Ratios.Figures(runs, side, metric))?.ToString(format) ?? "-";

        string Ratio(string side, Metric metric) => Spread.Of(Ratios.Of(runs, side, One, metric))?.ToString("0.00") ?? "-";
    }
}
