using System.CommandLine;
using Net.Zlink.Benchmarks.Common;
using Net.Zlink.Benchmarks.Compare;
using Net.Zlink.Scenarios.Native;
using Net.Zlink.Scenarios.Patterns.Running;
using Net.Zlink.Scenarios.Results;

namespace Net.Zlink.Scenarios.Patterns;

/// <summary>Socket patterns, beside the native library where there is one: with one client each, or with many.</summary>
internal sealed class PatternsCommand
{
    private const int WithinNoise = 3;
    private const int ManyClients = 100;

    private readonly Option<string[]> _pattern;
    private readonly Option<string[]> _transport =
        new Option<string[]>("--transport")
        {
            Description = "Over what, repeatable.",
            DefaultValueFactory = _ => PatternNames.Transports
        }.Among(PatternNames.Transports);
    private readonly Option<int[]> _size = new(
        "--size")
    {
        Description = "Bytes of one message, repeatable.",
        DefaultValueFactory = _ => PatternNames.Sizes,
        AllowMultipleArgumentsPerToken = true
    };
    private readonly Option<int> _clients;
    private readonly Option<int?> _count = new Option<int?>(
        "--count")
    {
        Description =
        $"Messages measured per run; by default, as the native programs do it, {PatternCounts.SmallMessages} up to "
        + $"{PatternCounts.SmallSize} bytes and {PatternCounts.LargeMessages} above, which is over in some milliseconds."
    }.AtLeast(1);
    private readonly Option<int?> _largeCount =
        new Option<int?>("--large-count")
        {
            Description =
        $"The same for messages above {PatternCounts.SmallSize} bytes; by default --count."
        }.AtLeast(1);
    private readonly Option<int> _warmUp = new Option<int>(
        "--warm-up")
    {
        Description = "Messages before that, one at a time.",
        DefaultValueFactory = _ => PatternCounts.DefaultWarmUp
    }.AtLeast(0);
    private readonly Option<int?> _roundTrips =
        new Option<int?>("--round-trips")
        {
            Description =
        "Round trips measured per run; by default 500 or 1000, by pattern, as natively."
        }.AtLeast(1);
    private readonly Option<string[]> _api = new Option<string[]>(
        "--api")
    {
        Description = "Ours: receive one message a call, or many (ReceiveMany; GATEWAY also sends with SendMany). The native library has "
            + "single messages only.",
        DefaultValueFactory = _ => PatternNames.Apis
    }.Among(PatternNames.Apis);
    private readonly Option<DirectoryInfo?> _programs =
        new("--native-programs")
        {
            Description =
        $"The folder of the native library's own programs (comp_current_pair ...), to run these instead of calling the library that "
        + $"{NativeZlink.Variable} names."
        };
    private readonly Option<int> _rounds = new Option<int>(
        "--rounds")
    { Description = "Rounds that count.", DefaultValueFactory = _ => 5 }.AtLeast(1);
    private readonly Option<int> _discard = new Option<int>(
        "--discard")
    { Description = "Rounds before them that do not.", DefaultValueFactory = _ => 1 }.AtLeast(0);
    private readonly Option<int> _compile = PatternRunCommand.Compile();
    private readonly Option<bool> _inline = new(
        "--inline-completions")
    { Description = "Start ours with the runtime's inline completions on." };
    private readonly Option<string[]> _bar = new(
        "--bar")
    {
        Description =
        "What ours must reach, repeatable: PAIR/tcp/64:rate>=2.5x, */tcp/64:latency<=1.2x, PAIR/ipc/64:rate>=1000000."
    };
    private readonly Option<string[]> _bars =
        new Option<string[]>("--bars")
        {
            Description = "A set of bars; 'issue': what was promised for the first release; 'services': for gateways and SPOT.",
        }.Among(
        PatternBar.Presets);
    private readonly Option<bool> _judgedOnly = new("--judged-only") { Description = "Only the cases that a bar is about." };
    private readonly Option<DirectoryInfo?> _out = new("--output") { Description = $"A folder for {SummaryFile.Name}." };
    private readonly Option<bool> _quiet = new("--quiet") { Description = "Only RESULT lines, and what failed." };

    private PatternsCommand(int clients, string[] patterns)
    {
        _pattern = new Option<string[]>("--pattern")
        {
            Description = "Which patterns, repeatable.",
            DefaultValueFactory = _ => patterns
        }.Among(patterns);
        _clients = new Option<int>("--clients")
        {
            Description = "Clients to the one server; receivers of the one gateway.",
            DefaultValueFactory = _ => clients,
            Hidden = clients == 1
        }.AtLeast(1);
    }

    public static Command CreatePatterns() => new PatternsCommand(clients: 1, PatternNames.All).Create(
        "patterns",
        $"Throughput and round trips of the socket patterns, beside the native library if {NativeZlink.Variable} names one, in "
            + $"alternating rounds. Prints medians as RESULT lines, ratios per round and verdicts. Exit code 0: all ran and all bars are "
            + $"met; 1: a run failed or a bar was missed; 3: a bar lies within the noise.",
        "... patterns --pattern PAIR --transport tcp --size 64 --api single",
        "... patterns --transport tcp --size 64 --size 1024 --count 2000000 --large-count 50000 --rounds 3 --quiet",
        "... patterns --native-programs /path/to/native/bin --bars issue --judged-only --count 2000000 --large-count 50000 --round-trips "
            + "10000 --api single --output results");

    public static Command CreateMulti() => new PatternsCommand(
        ManyClients, [.. PatternNames.All.Where(static name => name is not PatternNames.Pair)]).Create(
        "multi",
        "As patterns, with many clients to one server. One thread makes the clients send, one message each in turn, and one receives; "
            + "PUBSUB: one publishes, one receives from all, and what is counted is what was received.",
        "... multi --pattern DEALER_ROUTER --transport tcp --size 64",
        "... multi --clients 10 --count 100000 --rounds 1 --discard 0 --quiet");

    private Command Create(string name, string description, params string[] examples)
    {
        var command = new ExampleCommand(name, description, examples);
        foreach (Option option in new Option[] { _pattern, _transport, _size, _clients, _count, _largeCount, _warmUp, _roundTrips, _api,
            _programs, _rounds, _discard, _compile, _inline, _bar, _bars, _judgedOnly, _out, _quiet })
        {
            command.Add(option);
        }

        command.SetAction(RunAsync);
        return command;
    }

    private async Task<int> RunAsync(ParseResult request, CancellationToken cancellation)
    {
        if (!OperatingSystem.IsLinux())
        {
            throw new RequestException($"{request.CommandResult.Command.Name} reads processor time from /proc: it runs on Linux only.");
        }

        string[] presets = request.GetValue(_bars) ?? [];
        Bar[] given = [.. (request.GetValue(_bar) ?? []).Select(PatternBar.Parse)];
        Bar[] bars = [.. presets.SelectMany(PatternBar.Preset), .. given];
        PatternCase[] cases =
        [
            .. from transport in request.GetValue(_transport)!.Distinct(StringComparer.Ordinal)
               from pattern in request.GetValue(_pattern)!.Distinct(StringComparer.Ordinal)
               from size in request.GetValue(_size)!.Distinct()
               let one = new PatternCase(pattern, transport, size, request.GetValue(_clients))
               where !one.IsImpossible && (!request.GetValue(_judgedOnly) || bars.Any(bar => bar.IsAbout(one)))
               select one,
        ];
        string? programs = request.GetValue(_programs)?.FullName;
        string? whyNotNative = programs is null ? NativeZlink.WhyNot() : null;
        Check(cases, bars, programs, whyNotNative);
        PatternBar.CheckAbout(given, presets, cases);
        OutputCheck.Folder(request.GetValue(_out), SummaryFile.Name);
        string[] stacks = [.. whyNotNative is null ? [PatternStack.Native] : Array.Empty<string>(),
            .. request.GetValue(_api)!.Distinct(StringComparer.Ordinal).Select(PatternStack.Of)];
        var counts = new PatternCounts(request.GetValue(_count), request.GetValue(_largeCount) ?? request.GetValue(_count),
            request.GetValue(_warmUp), request.GetValue(_roundTrips));
        bool quiet = request.GetValue(_quiet);
        var runner = new PatternRunner(stacks, counts, programs, request.GetValue(_rounds), request.GetValue(_discard),
            request.GetValue(_compile), request.GetValue(_inline), quiet);
        var report = new PatternReport(request, runner, whyNotNative);
        report.Begin(cases);
        foreach (PatternCase what in cases)
        {
            (List<PatternRow> rows, List<SkippedStack> skipped) = await runner.RunAsync(what, cancellation);
            report.Add(PatternResult.Of(what, rows, bars, stacks), rows, skipped);
        }

        report.End(request.GetValue(_out));
        return report.Failed ? CommandLineProgram.Failed : report.IsWithinNoise ? WithinNoise : 0;
    }

    private static void Check(PatternCase[] cases, Bar[] bars, string? programs, string? whyNotNative)
    {
        if (cases.Length == 0)
        {
            throw new RequestException(
                "No case is left: with --judged-only a bar has to be about one, STREAM has no inproc, PAIR has one client, and GATEWAY "
                + "over inproc has one receiver.");
        }

        if (cases.FirstOrDefault(static one => one.Size < 1) is { } wrong)
        {
            throw new RequestException($"--size must be at least 1, not {wrong.Size}.");
        }

        if (whyNotNative is not null && bars.FirstOrDefault(static bar => bar.IsRatio) is { } ratio)
        {
            throw new RequestException($"The bar {ratio} is a ratio to the native library. {whyNotNative}");
        }

        if (programs is not null && Array.Exists(cases, static one => one.Clients > 1))
        {
            throw new RequestException("The native library's own programs have one client; with many it is called.");
        }

        string? missing = programs is null ? null
            : cases.Select(one => Path.Combine(programs, PatternNames.NativeProgram(one.Pattern)))
            .FirstOrDefault(static program => !File.Exists(program));
        if (missing is not null)
        {
            throw new RequestException($"There is no {missing}. --native-programs names the folder of the comp_current programs.");
        }
    }
}
