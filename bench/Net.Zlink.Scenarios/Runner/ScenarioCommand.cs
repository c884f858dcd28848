using System.CommandLine;
using Net.Zlink.Benchmarks.Common;
using Net.Zlink.Scenarios.Live;
using Net.Zlink.Scenarios.Results;
using Net.Zlink.Scenarios.Servers;
using Net.Zlink.Scenarios.Settings;

namespace Net.Zlink.Scenarios.Runner;

/// <summary>s0, s1 and s2: every stack under the same load, in alternating rounds.</summary>
internal static class ScenarioCommand
{
    public static Command Create(Scenario scenario)
    {
        string name = ScenarioNames.NameOf(scenario);
        var stacks = new Option<string[]>("--stack")
        {
            Description =
            $"Only these, in this order; ratios are to the first. Default: {string.Join(", ", Stacks.Served)}, and those of --external "
            + $"and --command.",
            AllowMultipleArgumentsPerToken = true
        };
        var external = new Option<string?>("--external")
        {
            Description =
            "A server that someone else runs, as one more stack: transport://host:port."
        };
        var commands = new Option<string[]>("--command")
        {
            Description =
            "NAME=COMMAND: someone else's server as one more stack, started for each round; {port} and {shards} are filled in, and it "
            + "prints READY when it listens."
        };
        Option<int?> rounds = new Option<int?>("--rounds")
        {
            Description =
            "Rounds; every other one runs backwards. Default 5, quick 1."
        }.AtLeast(1);
        var pin = new Option<string>("--pin")
        {
            Description =
            "auto: halves of the processors, from 4 on. off. Or SERVER/CLIENT, such as 0-3/4-7.",
            DefaultValueFactory = _ => "auto"
        };
        var trace = new Option<FileInfo?>("--trace")
        {
            Description =
            "Keep an EventPipe trace with CPU samples of the server; its figures then count for nothing. Read it with 'profile'."
        };
        var allocations = new Option<bool>("--trace-allocations")
        {
            Description =
            "The trace also has what is allocated, and where: one event per 100 KB."
        };
        var output = new Option<string?>("--output")
        {
            Description =
            "Folder for metrics.csv and summary.json. Default: artifacts/scenarios/NAME-TIME."
        };
        var json = new Option<bool>("--json") { Description = "Standard output for machines: one JSON object a line, the summary last." };
        var quiet = new Option<bool>("--quiet") { Description = "No live view: only RESULT, METRIC and the table." };
        var settings = new SettingsOptions();
        var command = new ExampleCommand(
            name,
            Describe(scenario),
            $"dotnet run -c Release --project bench/Net.Zlink.Scenarios -- {name}                                   (all stacks, fixed "
                + $"profile, 5 rounds)",
            $"... {name} --profile quick --quiet                                                        (does it work? seconds)",
            $"... {name} --stack net-zlink dotnet kestrel --rounds 9 --transport tls",
            $"... {name} --stack external net-zlink --external tcp://127.0.0.1:5555                     (beside a server of yours)",
            $"... {name} --command \"asio=/path/to/asio_echo {{port}} {{shards}}\" --stack asio net-zlink      (the same, started for "
                + $"each round)",
            $"ZLINK_NATIVE_LIBRARY=/path/to/libzlink.so ... {name} --stack native net-zlink",
            $"... {name} --stack net-zlink --rounds 1 --trace {name}.nettrace && ... profile {name}.nettrace");
        foreach (Option option in new Option[] { stacks, external, commands, rounds, pin, trace, allocations, output, json, quiet })
        {
            command.Add(option);
        }

        settings.AddTo(command);
        command.SetAction(async (request, cancellation) =>
        {
            Pinning pinning = Pinning.Parse(request.GetValue(pin)!, Pinning.Auto);
            List<ForeignServer> foreign = [.. request.GetValue(commands)?.Select(ForeignServer.Parse) ?? []];
            if (request.GetValue(external) is string endpoint)
            {
                foreign.Add(ForeignServer.At(endpoint));
            }

            IReadOnlyList<string> all = [.. Stacks.Served, .. foreign.Select(static server => server.Name)];
            ScenarioSettings chosen = settings.Read(request, scenario, pinning.ServerProcessors);
            string profile = settings.ProfileOf(request);
            var run = new ScenarioRun
            {
                Settings = chosen,
                Profile = profile,
                Pinning = pinning,
                Rounds = request.GetValue(rounds) ?? Profiles.RoundsOf(profile),
                Wanted = request.GetValue(stacks) is { Length: > 0 } some ? Known(some, all) : all,
                Foreign = foreign,
                Trace = request.GetValue(trace) is FileInfo file ? new TraceRequest(file, request.GetValue(allocations)) : null,
                View = LiveViews.Create(request.GetValue(json), request.GetValue(quiet)),
            };
            OutputCheck.File(run.Trace?.File);
            var folder = new OutputFolder(request.GetValue(output), name);
            Summary summary = await run.RunAsync(folder, cancellation);
            if (request.GetValue(json))
            {
                Console.WriteLine(System.Text.Json.JsonSerializer.Serialize(
                    new JsonLine { Summary = summary }, ChildJson.Default.JsonLine));
            }
            else
            {
                SummaryText.Print(summary);
                Console.WriteLine($"{folder}: {OutputFolder.CsvName}, {SummaryFile.Name}");
            }

            return string.Equals(summary.PassFail, ResultRow.Pass, StringComparison.Ordinal) ? 0 : CommandLineProgram.Failed;
        });
        return command;
    }

    private static string[] Known(string[] wanted, IReadOnlyList<string> all) =>
        Array.Find(wanted, stack => !all.Contains(stack, StringComparer.Ordinal)
        && !string.Equals(stack, Stacks.External, StringComparison.Ordinal)) is string unknown
        ? throw new RequestException($"There is no stack {unknown}; there are {string.Join(", ", all)}.")
        : wanted;

    private static string Describe(Scenario scenario) => scenario switch
    {
        Scenario.S0 => "Latency: one connection, one message in flight, every stack in turn. Exit code 1: a round failed.",
        Scenario.S1 => "Connects 10,000 clients to every stack in turn, and sends nothing until the end: then one message each, which "
            + "must be echoed, or nobody accepted them. Exit code 1: a round failed.",
        _ => "Throughput: 10,000 connections with 30 messages in flight each, every stack in turn. Exit code 1: a round failed.",
    };
}
