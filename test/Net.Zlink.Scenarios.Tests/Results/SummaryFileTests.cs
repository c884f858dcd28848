using System.Text.Json;
using Net.Zlink.Benchmarks.Common;
using Net.Zlink.Scenarios.Measure;
using Net.Zlink.Scenarios.Results;
using Net.Zlink.Scenarios.Settings;
using Net.Zlink.Scenarios.Tests.Support;
using Xunit;

namespace Net.Zlink.Scenarios.Tests.Results;

public sealed class SummaryFileTests
{
    [Fact]
    public void A_summary_is_read_as_it_was_written()
    {
        using var folder = new TestFolder();
        Summary summary = Make();
        SummaryFile.Write(folder.File(SummaryFile.Name), summary);
        Summary read = SummaryFile.Read(folder.Path);
        Assert.Equal(SummaryFile.ToJson(summary), SummaryFile.ToJson(read));
        Assert.Equal(summary.Rounds[0].Row, read.Rounds[0].Row);
        Assert.Equal(summary.Settings, read.Settings);
    }

    [Fact]
    public void The_json_has_the_members_that_reports_read()
    {
        using JsonDocument json = JsonDocument.Parse(SummaryFile.ToJson(Make()));
        Members(json.RootElement, "format", "kind", "command", "started", "finished", "passFail", "machine", "versions", "environment",
            "settings", "plan", "rounds", "stacks", "skipped", "doubts", "unjudged", "bars", "patterns", "soak");
        Members(json.RootElement.GetProperty("settings"), "scenario", "transport", "connections", "size", "inFlight", "warmupSeconds",
            "measureSeconds", "drainTimeoutSeconds", "connectConcurrency", "connectTimeoutSeconds", "backlog", "highWaterMark", "shards",
            "sendBatch", "latencySampleRate", "inlineCompletions");
        JsonElement round = json.RootElement.GetProperty("rounds")[0];
        Members(round, "stack", "number", "started", "row", "client", "server", "othersPercent", "fault");
        Members(round.GetProperty("row"), "scenarioId", "transport", "ccu", "inFlight", "size", "connectSuccess", "connectFail",
            "connectTimeout", "sent", "recv", "incompleteRatio", "throughput", "p50", "p95", "p99", "drainTimeout", "gatingViolation",
            "errorsByErrno", "passFail", "passed");
        Members(json.RootElement.GetProperty("stacks")[0], "stack", "passFail", "rounds", "passed", "throughput", "p50", "p95", "p99",
            "connectSeconds", "serverCpuMicrosecondsPerMessage", "serverPeakMegabytes", "idlePercent", "kilobytesPerConnection",
            "clientCpuMicrosecondsPerMessage", "ratios");
        Members(json.RootElement.GetProperty("stacks")[0].GetProperty("throughput"), "median", "min", "max");
        Members(round.GetProperty("client").GetProperty("latencyCurve")[0], "percent", "microseconds");
        Assert.Equal("s2", json.RootElement.GetProperty("settings").GetProperty("scenario").GetString(), ignoreCase: true);
    }

    [Fact]
    public void A_file_that_is_no_summary_is_a_wrong_request()
    {
        using var folder = new TestFolder();
        File.WriteAllText(folder.File("other.json"), "{ \"kind\": 7 }");
        RequestException e = Assert.Throws<RequestException>(() => SummaryFile.Read(folder.File("other.json")));
        Assert.Contains("other.json", e.Message, StringComparison.Ordinal);
        Assert.Throws<RequestException>(() => SummaryFile.Read(folder.Path));
    }

    [Theory]
    [InlineData("2")]
    [InlineData("\"1\"")]
    [InlineData("1.5")]
    public void A_summary_of_another_format_is_refused_with_its_number(string format)
    {
        using var folder = new TestFolder();
        string json = SummaryFile.ToJson(Make());
        string other = json.Replace("\"format\": 1,", $"\"format\": {format},", StringComparison.Ordinal);
        Assert.NotEqual(json, other, StringComparer.Ordinal);
        File.WriteAllText(folder.File(SummaryFile.Name), other);
        RequestException e = Assert.Throws<RequestException>(() => SummaryFile.Read(folder.Path));
        Assert.Contains($"has the format {format}", e.Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("DOTNET_gcServer", true)]
    [InlineData("DOTNET_SYSTEM_NET_SOCKETS_INLINE_COMPLETIONS", true)]
    [InlineData("ZLINK_NATIVE_LIBRARY", true)]
    [InlineData("DOTNET_ROOT", false)]
    [InlineData("DOTNET_CLI_TELEMETRY_OPTOUT", false)]
    [InlineData("HOME", false)]
    public void Environment_variables_matter_if_they_change_what_is_measured(string name, bool matters) =>
        Assert.Equal(matters, EnvironmentVariables.Matters(name));

    private static void Members(JsonElement element, params string[] names) =>
        Assert.Equal(names.Order(StringComparer.Ordinal),
        element.EnumerateObject().Select(static member => member.Name).Order(StringComparer.Ordinal));

    private static Summary Make() => new()
    {
        Kind = "scenario",
        Command = "s2",
        Started = DateTimeOffset.UnixEpoch,
        Finished = DateTimeOffset.UnixEpoch,
        PassFail = ResultRow.Pass,
        Machine = MachineInfo.Collect(),
        Versions = VersionInfo.Collect(),
        Environment = new Dictionary<string, string>(StringComparer.Ordinal) { ["DOTNET_gcServer"] = "0" },
        Settings = new ScenarioSettings(),
        Plan = new RunPlan("fixed", 5, ["net-zlink"], null, null, "not pinned", 20_000),
        Rounds =
        [
            new Round
            {
                Stack = "net-zlink",
                Number = 1,
                Started = DateTimeOffset.UnixEpoch,
                Row = new ResultRow { ScenarioId = "net-zlink-s2", Transport = "tcp", Ccu = 1, InFlight = 1, Size = 64, ConnectSuccess = 1,
                    Sent = 3, Recv = 3, Throughput = 3, P99 = 2 },
                Client = new ClientDetail { LatencyCurve = [new LatencyPoint(50, 1.5)] },
                Server = new ServerDetail { Samples = [new ProcessSample(1, 2, 3, 4, 5, 6, 7, 8, 9, 10)],
                    Runtime = new RuntimeEvidence { Gen0 = 4 } },
            },
        ],
        Stacks = [new StackSummary { Stack = "net-zlink", PassFail = ResultRow.Pass, Rounds = 1, Passed = 1,
            Throughput = new Spread(3, 2, 4) }],
        Skipped = [new SkippedStack("native", "no library")],
    };
}
