using System.CommandLine;
using System.Text.Json;
using Net.Zlink.Benchmarks.Common;
using Net.Zlink.Benchmarks.Compare;

namespace Net.Zlink.Benchmarks.Patterns;

/// <summary>Socket patterns beside the native library's own programs.</summary>
internal static class PatternsCommand
{
    private static readonly Option<string[]> Pattern = Choice(new("--pattern") { Description = "Which patterns, repeatable.", DefaultValueFactory = _ => PatternNames.All }, PatternNames.All);

    private static readonly Option<string[]> Transport = Choice(new("--transport") { Description = "Over what, repeatable.", DefaultValueFactory = _ => PatternNames.Transports }, PatternNames.Transports);

    private static readonly Option<int[]> Size = new("--size") { Description = "Bytes of one message, repeatable.", DefaultValueFactory = _ => [64, 1024, 65_536] };

    private static readonly Option<DirectoryInfo?> NativeFolder = new("--native") { Description = "The folder of the native comp_current programs. Without it only ours runs." };

    private static readonly Option<int> Rounds = new Option<int>("--rounds") { Description = "Rounds that count.", DefaultValueFactory = _ => 5 }.AtLeast(1);

    private static readonly Option<int> Discard = new Option<int>("--discard") { Description = "Rounds before them that do not.", DefaultValueFactory = _ => 1 }.AtLeast(0);

    private static readonly Option<int?> Messages = new("--messages") { Description = $"Messages measured per run, up to {PatternCounts.SmallSize} bytes each; the native default of {PatternCounts.SmallMessages} is over in some milliseconds." };

    private static readonly Option<int?> LargeMessages = new("--large-messages") { Description = $"The same for longer ones; the native default is {PatternCounts.LargeMessages}." };

    private static readonly Option<int> WarmUp = new Option<int>("--warm-up") { Description = "Messages before that, one at a time.", DefaultValueFactory = _ => PatternCounts.DefaultWarmUp }.AtLeast(0);

    private static readonly Option<int?> RoundTrips = new("--round-trips") { Description = "Round trips measured per run; the native default is 500 or 1000, by pattern." };

    private static readonly Option<int> Compile = PatternRunCommand.Compile;

    private static readonly Option<string> Api = PatternRunCommand.Api;

    private static readonly Option<bool> Inline = new("--inline-completions") { Description = "Start ours with the runtime's inline completions on." };

    private static readonly Option<string[]> Bars = new("--bar") { Description = "What ours must reach, repeatable: PAIR/tcp/64:rate>=2.5x, */tcp/64:latency<=1.2x, PAIR/ipc/64:rate>=1000000." };

    private static readonly Option<string[]> Preset = Choice(new("--bars") { Description = "A set of bars; 'issue': what was promised for the first release." }, PatternBar.Presets);

    private static readonly Option<bool> JudgedOnly = new("--judged-only") { Description = "Only the cases that a bar is about." };

    private static readonly Option<FileInfo?> Json = new("--json") { Description = "Also write every run to this file." };

    public static Command Create()
    {
        var command = new ExampleCommand(
            "patterns",
            "Throughput and round trips of the socket patterns, beside the native library's comp_current programs, in alternating rounds; prints medians, ratios per round and verdicts. Exit code 0: all bars met; 1: one missed, or a run failed; 3: one within the noise.",
            "... patterns --pattern PAIR --transport tcp --size 64                                    (only ours)",
            "... patterns --native /path/to/native/bin --bars issue --judged-only --messages 2000000 --round-trips 10000",
            "... patterns --native /path/to/native/bin --pattern PAIR --transport tcp --size 64 --bar \"PAIR/tcp/64:rate>=2.5x\" --json pair.json");
        foreach (Option option in new Option[] { Pattern, Transport, Size, NativeFolder, Rounds, Discard, Messages, LargeMessages, WarmUp, RoundTrips, Compile, Api, Inline, Bars, Preset, JudgedOnly, Json })
        {
            command.Add(option);
        }

        command.SetAction(RunAsync);
        return command;
    }

    private static Option<string[]> Choice(Option<string[]> option, string[] values)
    {
        option.AcceptOnlyFromAmong(values);
        return option;
    }

    private static async Task<int> RunAsync(ParseResult request, CancellationToken cancellation)
    {
        if (!OperatingSystem.IsLinux())
        {
            throw new RequestException("patterns reads processor time from /proc: it runs on Linux only.");
        }

        Bar[] bars = [.. (request.GetValue(Preset) ?? []).SelectMany(PatternBar.Preset), .. (request.GetValue(Bars) ?? []).Select(PatternBar.Parse)];
        PatternCase[] cases =
        [
            .. from transport in request.GetValue(Transport)!
               from pattern in request.GetValue(Pattern)!
               from size in request.GetValue(Size)!
               let one = new PatternCase(pattern, transport, size)
               where !request.GetValue(JudgedOnly) || bars.Any(bar => bar.IsAbout(one))
               select one,
        ];
        string? native = request.GetValue(NativeFolder)?.FullName;
        Check(cases, bars, native);
        var counts = new PatternCounts(request.GetValue(Messages), request.GetValue(WarmUp), request.GetValue(RoundTrips));
        var runner = new PatternRunner(
            counts, native, request.GetValue(Rounds), request.GetValue(Discard), request.GetValue(Compile), request.GetValue(Api)!, request.GetValue(Inline));

        var machine = new Machine();
        Console.WriteLine(machine);
        Console.WriteLine($"{runner.Rounds} rounds after {runner.Discarded} not counted, order reversed every other one; messages {Said(counts.Messages)}, above {PatternCounts.SmallSize} B {Said(request.GetValue(LargeMessages))}, round trips {Said(counts.RoundTrips)}");
        Console.WriteLine($"ours: {runner.Api} API, inline completions {(runner.InlineCompletions ? "on" : "off")}; native: {native ?? "none"}");
        Console.WriteLine();
        var results = new List<PatternResult>();
        foreach (PatternCase what in cases)
        {
            PatternCounts its = what.Size > PatternCounts.SmallSize ? counts with { Messages = request.GetValue(LargeMessages) } : counts;
            List<Run> runs = await (runner with { Counts = its }).RunAsync(what, cancellation);
            results.Add(PatternResult.Of(what, runs, bars));
        }

        PatternResult.Print(results);
        if (request.GetValue(Json) is { } file)
        {
            await using FileStream stream = file.Create();
            await JsonSerializer.SerializeAsync(stream, new { machine, runner, largeMessages = request.GetValue(LargeMessages), cases = results }, JsonOutput.Options, cancellation);
        }

        return results.Any(result => result.Failed) ? Commands.Failed : results.Any(result => result.IsWithinNoise) ? Commands.WithinNoise : 0;
    }

    private static string Said(int? count) => count?.ToString("N0", null) ?? "as native";

    private static void Check(PatternCase[] cases, Bar[] bars, string? native)
    {
        if (cases.Length == 0)
        {
            throw new RequestException("No case is left; with --judged-only a bar has to be about one.");
        }

        if (native is null && bars.FirstOrDefault(bar => bar.IsRatio) is { } ratio)
        {
            throw new RequestException($"The bar {ratio} is a ratio to the native program: name its folder with --native.");
        }

        string? missing = native is null ? null : cases.Select(one => Path.Combine(native, PatternNames.NativeProgram(one.Pattern))).FirstOrDefault(program => !File.Exists(program));
        if (missing is not null)
        {
            throw new RequestException($"There is no {missing}. --native names the folder of the comp_current programs.");
        }
    }
}
