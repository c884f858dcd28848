using System.CommandLine;
using System.Text.Json;
using Net.Zlink.Benchmarks.Common;

namespace Net.Zlink.Benchmarks.Compare;

/// <summary>Runs servers beside each other against a load generator.</summary>
internal static class CompareCommand
{
    private static readonly Argument<string[]> Servers = new("servers")
    {
        Description = "NAME=COMMAND with {port} in the command. The first one is what the others are compared with.",
        Arity = ArgumentArity.OneOrMore,
    };

    private static readonly Option<string[]> Cases = new("--case")
    {
        Description = $"What to run, repeatable: {LoadCase.Known}, or CONNECTIONSxSIZExINFLIGHT.",
        DefaultValueFactory = _ => ["s2"],
    };

    private static readonly Option<string[]> Bars =
        new("--bar")
        {
            Description =
        "What a server must reach, repeatable: NAME:FIGURE>=1.05x, NAME:FIGURE<=0.7x@OTHER, NAME:FIGURE<=120; CASE/NAME:... for one case "
        + "of several. Figures: rate, p50, p99, connect, cpu, peak, idle, held."
        };

    private static readonly Option<string?> Load =
        new("--load") { Description = $"The load generator's command; by default the environment variable {LoadCommand.Variable}." };

    private static readonly Option<int> Rounds =
        new Option<int>("--rounds") { Description = "Rounds that count.", DefaultValueFactory = _ => 5 }.AtLeast(1);

    private static readonly Option<int> Discard =
        new Option<int>("--discard") { Description = "Rounds before them that do not.", DefaultValueFactory = _ => 1 }.AtLeast(0);

    private static readonly Option<int> WarmUp =
        new Option<int>("--warm-up") { Description = "Seconds of load before the measurement.", DefaultValueFactory = _ => 2 }.AtLeast(0)
        .AtMost(OptionChecks.SecondsOfADay);

    private static readonly Option<int> Measure =
        new Option<int>("--measure") { Description = "Seconds measured.", DefaultValueFactory = _ => 6 }.AtLeast(1)
        .AtMost(OptionChecks.SecondsOfADay);

    private static readonly Option<FileInfo?> Json = new("--json") { Description = "Also write every run to this file." };

    public static Command Create()
    {
        var command = new ExampleCommand(
            "compare",
            "Runs STREAM echo servers in alternating rounds against a load generator; prints medians, ratios per round and verdicts. "
                + "Exit code 0: all bars met; 1: one missed, or a run failed; 3: one within the noise.",
            "export STREAMLOAD=/path/to/load-generator",
            "dotnet run -c Release --project bench/Net.Zlink.Benchmarks -- compare \\",
            "    \"asio=/path/to/asio_echo {port} 2\" \\",
            "    \"push=dotnet samples/EchoServer/bin/Release/net10.0/EchoServer.dll --endpoint tcp://127.0.0.1:{port} --quiet "
                + "--inline-completions on\" \\",
            "    --case s2 --bar \"push:rate>=1.05x\" --bar \"push:p99<=1x\" --bar \"push:peak<=120\" --bar \"push:connect<=0.4x\" "
                + "--json s2.json",
            "... compare ... --case idle --bar \"push:idle<=1\"           (processor time while connections do nothing)",
            "... compare ... --case 1000x1024x30 --rounds 15            (another load, more rounds)");
        command.Add(Servers);
        foreach (Option option in new Option[] { Cases, Bars, Load, Rounds, Discard, WarmUp, Measure, Json })
        {
            command.Add(option);
        }

        command.SetAction(RunAsync);
        return command;
    }

    private static async Task<int> RunAsync(ParseResult request, CancellationToken cancellation)
    {
        ServerSpec[] servers = [.. request.GetValue(Servers)!.Select(ServerSpec.Parse)];
        LoadCase[] cases = [.. request.GetValue(Cases)!.Select(LoadCase.Parse)];
        Bar[] bars = [.. (request.GetValue(Bars) ?? []).Select(Bar.Parse)];
        Check(servers, cases, bars);
        OutputCheck.File(request.GetValue(Json));
        bool needsLoad = cases.Any(c => !c.IsIdle);
        LoadCommand? load = needsLoad ? new LoadCommand(
            LoadCommand.Find(request.GetValue(Load)), request.GetValue(WarmUp), request.GetValue(Measure)) : null;
        int rounds = request.GetValue(Rounds);
        int discard = request.GetValue(Discard);

        var machine = new Machine();
        Console.WriteLine(machine);
        Console.WriteLine($"{rounds} rounds after {discard} not counted, order reversed every other one; warm-up "
            + $"{request.GetValue(WarmUp)} s, measured {request.GetValue(Measure)} s");
        Console.WriteLine($"load: {load?.Command ?? "none"}");
        foreach (ServerSpec server in servers)
        {
            Console.WriteLine($"{server.Name}: {server.Command}");
        }

        Console.WriteLine();
        var runner = new Runner(load, servers, rounds, discard);
        var results = new List<CaseResult>();
        foreach (LoadCase what in cases)
        {
            List<Run> runs = await runner.RunAsync(what, cancellation);

            // A bar on a figure that this case does not have (idle, in a case with load) belongs to another case of the same call.
            var result = CaseResult.Of(what, rounds, runs, [.. bars.Where(what.IsMeantBy)], servers[0].Name);
            results.Add(result);
            Report.Print(result, servers);
        }

        if (request.GetValue(Json) is { } file)
        {
            await using FileStream stream = file.Create();
            await JsonSerializer.SerializeAsync(stream, new { machine, load, servers, discard, cases = results }, JsonOutput.Options,
                cancellation);
        }

        return results.Any(result => result.Failed) ? Commands.Failed : results.Any(result => result.IsWithinNoise) ? Commands.WithinNoise
            : 0;
    }

    private static void Check(ServerSpec[] servers, LoadCase[] cases, Bar[] bars)
    {
        if (!OperatingSystem.IsLinux())
        {
            throw new RequestException("compare reads memory and processor time from /proc: it runs on Linux only.");
        }

        HashSet<string> names = new(StringComparer.Ordinal);
        foreach (ServerSpec server in servers)
        {
            if (!names.Add(server.Name))
            {
                throw new RequestException($"Two servers are called {server.Name}.");
            }
        }

        foreach (Bar bar in bars)
        {
            string? unknown = new[] { bar.Server, bar.Reference }.FirstOrDefault(name => name is not null && !names.Contains(name));
            if (unknown is not null)
            {
                throw new RequestException($"The bar {bar} names {unknown}, which is none of the servers {string.Join(", ", names)}.");
            }

            LoadCase.CheckMeant(bar, cases);
        }

        foreach (LoadCase what in cases)
        {
            what.CheckLimits();
        }
    }
}
