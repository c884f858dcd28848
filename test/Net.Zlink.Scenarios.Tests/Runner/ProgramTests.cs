using System.Globalization;
using System.Text.Json;
using Net.Zlink.Scenarios.Results;
using Net.Zlink.Scenarios.Tests.Support;
using Xunit;

namespace Net.Zlink.Scenarios.Tests.Runner;

/// <summary>The program as a user starts it: servers and clients are processes of their own.</summary>
public sealed class ProgramTests
{
    [Theory]
    [InlineData("s0", 1)]
    [InlineData("s1", 50)]
    [InlineData("s2", 50)]
    public async Task A_quick_run_leaves_its_lines_its_csv_and_its_summary(string scenario, int connections)
    {
        using var folder = new TestFolder();
        (int code, string output, string errors) = await Runs.ProgramAsync(
            scenario, "--profile", "quick", "--drain-timeout", "60", "--stack", "net-zlink", "dotnet", "native", "--ccu",
                connections.ToString(CultureInfo.InvariantCulture), "--measure", "0.5", "--quiet", "--output", folder.Path);

        Assert.True(code == 0, output + errors);
        string[] lines = output.Split('\n');
        string[] results = [.. lines.Where(static line => line.StartsWith("RESULT ", StringComparison.Ordinal))];
        Assert.Equal([$"scenario=net-zlink-{scenario}", $"scenario=dotnet-{scenario}"], results.Select(static line => line.Split(' ')[1]),
            StringComparer.Ordinal);
        Assert.All(results, line => Assert.Contains($" connect_success={connections} ", line, StringComparison.Ordinal));
        Assert.All(results, static line => Assert.EndsWith(" pass_fail=PASS", line.TrimEnd(), StringComparison.Ordinal));
        Assert.Equal(2, lines.Count(static line => line.StartsWith("METRIC ", StringComparison.Ordinal)));

        // A stack without its library is skipped, loudly.
        Assert.Contains("SKIPPED: native: NOT MEASURED: set ZLINK_NATIVE_LIBRARY", errors, StringComparison.Ordinal);
        Assert.Contains("SKIPPED native", output, StringComparison.Ordinal);

        string[] csv = await File.ReadAllLinesAsync(folder.File("metrics.csv"), TestContext.Current.CancellationToken);
        Assert.Equal(ResultRow.CsvHeader, csv[0]);
        Assert.Equal(3, csv.Length);
        Assert.All(csv[1..], static line => Assert.Equal(17, line.Split(',').Length));

        Summary summary = SummaryFile.Read(folder.Path);
        Assert.Equal("PASS", summary.PassFail);
        Assert.Equal(["net-zlink", "dotnet"], summary.Stacks.Select(static stack => stack.Stack), StringComparer.Ordinal);
        Assert.Equal(["native"], summary.Skipped.Select(static stack => stack.Stack), StringComparer.Ordinal);
        Assert.All(summary.Rounds, static round => Assert.NotNull(round.Server));
        Assert.All(summary.Rounds, static round => Assert.NotEmpty(round.Client.LatencyCurve));
        Assert.All(summary.Rounds, static round => Assert.NotEmpty(round.Client.Samples));
    }

    [Fact]
    public async Task Two_rounds_alternate_and_the_server_of_someone_else_takes_part()
    {
        using var folder = new TestFolder();
        await using var server = new FaultyServer(Fault.None);
        (int code, string output, string errors) = await Runs.ProgramAsync(
            "s2", "--profile", "quick", "--drain-timeout", "60", "--stack", "external", "net-zlink", "--external", server.Endpoint,
                "--rounds", "2", "--ccu", "5", "--measure", "0.2", "--quiet", "--output", folder.Path);

        Assert.True(code == 0, output + errors);
        Summary summary = SummaryFile.Read(folder.Path);
        Assert.Equal(["external", "net-zlink", "net-zlink", "external"], summary.Rounds.Select(static round => round.Stack),
            StringComparer.Ordinal);
        Assert.Equal([1, 1, 2, 2], summary.Rounds.Select(static round => round.Number));
        Assert.Null(summary.Rounds[0].Server);
        Assert.Null(summary.Rounds[0].OthersPercent);
        Assert.Contains("NOT JUDGED: what other programs used in the rounds of external", output, StringComparison.Ordinal);
        Assert.NotEmpty(summary.Unjudged);
        Assert.Equal("external", summary.Stacks[1].Ratios!.To);
        Assert.NotNull(summary.Stacks[1].Ratios!.Throughput);
    }

    [Fact]
    public async Task A_servers_command_is_started_for_each_round_and_measured_like_ours()
    {
        using var folder = new TestFolder();
        string program = $"dotnet {Path.Combine(AppContext.BaseDirectory, "Net.Zlink.Scenarios.dll")}";
        (int code, string output, string errors) = await Runs.ProgramAsync(
            "s2", "--profile", "quick", "--drain-timeout", "60", "--stack", "other", "--command",
                $"other={program} server --stack dotnet --endpoint tcp://127.0.0.1:{{port}} --shards {{shards}}", "--rounds", "2", "--ccu",
                "5", "--measure", "0.2", "--quiet", "--output", folder.Path);

        Assert.True(code == 0, output + errors);
        Summary summary = SummaryFile.Read(folder.Path);
        Assert.Equal(["other-s2", "other-s2"], summary.Rounds.Select(static round => round.Row.ScenarioId), StringComparer.Ordinal);
        Assert.NotEqual(summary.Rounds[0].Server!.ProcessId, summary.Rounds[1].Server!.ProcessId);
        Assert.All(summary.Rounds, static round => Assert.True(round.Server!.PeakMegabytes > 1));
    }

    [Fact]
    public async Task Output_of_a_foreign_server_does_not_end_the_run_and_the_server_is_stopped_with_it()
    {
        using var folder = new TestFolder();

        // Nobody listens there: that fails the round, and what it says does not.
        await File.WriteAllTextAsync(folder.File("talk.sh"), "echo READY; echo STATUS listening fine; exec cat",
            TestContext.Current.CancellationToken);
        (int code, string output, string errors) = await Runs.ProgramAsync(
            "s2", "--profile", "quick", "--stack", "talks", "--command", $"talks=sh {folder.File("talk.sh")} {{port}}", "--ccu", "2",
                "--measure", "0.2", "--drain-timeout", "1", "--quiet", "--output", folder.Path);

        Assert.True(code == 1, output + errors);
        Round round = Assert.Single(SummaryFile.Read(folder.Path).Rounds);
        Assert.Null(round.Fault);
        Assert.Equal(2, round.Row.ConnectFail);
        Assert.Empty(round.Server!.Samples);
        Assert.False(Directory.Exists($"/proc/{round.Server.ProcessId}"), "the server is still there");
    }

    [Fact]
    public async Task A_server_that_does_not_come_up_or_ends_in_the_middle_fails_its_round()
    {
        using var folder = new TestFolder();
        string program = $"dotnet {Path.Combine(AppContext.BaseDirectory, "Net.Zlink.Scenarios.dll")}";
        (int code, string output, string errors) = await Runs.ProgramAsync(
            "s2", "--profile", "quick", "--stack", "never", "dies", "--command", "never=echo {port} >&2", "--command",
                $"dies={program} server --child --stack dotnet --endpoint tcp://127.0.0.1:{{port}} < /dev/null",
            "--ccu", "5", "--measure", "0.2", "--drain-timeout", "1", "--quiet", "--output", folder.Path);

        Assert.True(code == 1, output + errors);
        Summary summary = SummaryFile.Read(folder.Path);
        Assert.Equal("FAIL", summary.PassFail);
        Assert.Contains("did not come up", summary.Rounds[0].Fault, StringComparison.Ordinal);
        Assert.Contains("ended", summary.Rounds[1].Fault, StringComparison.Ordinal);
        Assert.All(summary.Rounds, static round => Assert.Equal("FAIL", round.Row.PassFail));
    }

    [Fact]
    public async Task A_fail_is_a_fail_in_every_output_and_in_the_exit_code()
    {
        using var folder = new TestFolder();
        await using var server = new FaultyServer(Fault.Duplicates);
        (int code, string output, _) = await Runs.ProgramAsync(
            "s2", "--profile", "quick", "--stack", "external", "--external", server.Endpoint, "--ccu", "3", "--measure", "0.2",
                "--drain-timeout", "60", "--quiet", "--output", folder.Path);

        Assert.Equal(1, code);
        Assert.Contains(" gating_violation=3 pass_fail=FAIL", output, StringComparison.Ordinal);
        Assert.Equal("FAIL", output.TrimEnd().Split('\n')[^2]);
        Assert.EndsWith(",FAIL", (await File.ReadAllLinesAsync(folder.File("metrics.csv"), TestContext.Current.CancellationToken))[1],
            StringComparison.Ordinal);
        Summary summary = SummaryFile.Read(folder.Path);
        Assert.Equal("FAIL", summary.PassFail);
        Assert.Equal("FAIL", summary.Stacks[0].PassFail);
        Assert.Equal(3, summary.Rounds[0].Client.Gating.Duplicate);
    }

    [Fact]
    public async Task The_client_alone_fails_with_its_exit_code()
    {
        await using var server = new FaultyServer(Fault.Stalls);
        (int code, string output, _) = await Runs.ProgramAsync(
            "client", "s2", "--connect", server.Endpoint, "--profile", "quick", "--ccu", "2", "--measure", "0.2", "--drain-timeout", "0.3",
            "--quiet");
        Assert.Equal(1, code);
        Assert.Contains("RESULT scenario=external-s2 ", output, StringComparison.Ordinal);
        Assert.Contains(" drain_timeout=1 gating_violation=0 pass_fail=FAIL", output, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Json_is_one_object_a_line_and_the_summary_last()
    {
        using var folder = new TestFolder();
        (int code, string output, string errors) =
            await Runs.ProgramAsync("s2", "--profile", "quick", "--drain-timeout", "60", "--stack", "dotnet", "--ccu", "3", "--json",
            "--output", folder.Path);
        Assert.True(code == 0, output + errors);
        string[] lines = output.Split('\n', StringSplitOptions.RemoveEmptyEntries);
        string[] kinds = [.. lines.Select(static line =>
        {
            using JsonDocument json = JsonDocument.Parse(line);
            return json.RootElement.EnumerateObject().Single().Name;
        })];
        Assert.Equal("summary", kinds[^1]);
        Assert.Equal("round", kinds[^2]);
        Assert.All(kinds[..^2], static kind => Assert.Equal("progress", kind));
        Assert.NotEmpty(kinds[..^2]);
    }

    [Fact]
    public async Task A_run_longer_than_a_second_has_the_runtimes_own_counters_and_a_trace_that_can_be_read()
    {
        using var folder = new TestFolder();
        string trace = folder.File("server.nettrace");
        (int code, string output, string errors) = await Runs.ProgramAsync(
            "s2", "--profile", "quick", "--drain-timeout", "60", "--stack", "net-zlink", "--ccu", "10", "--measure", "3.5", "--quiet",
                "--trace", trace, "--output", folder.Path);
        Assert.True(code == 0, output + errors);
        Summary summary = SummaryFile.Read(folder.Path);
        RuntimeEvidence? runtime = summary.Rounds[0].Server!.Runtime;
        Assert.NotNull(runtime);
        Assert.True(runtime.Seconds > 3 && runtime.MostPoolThreads > 0 && runtime.MostGcHeapMegabytes > 0, runtime.ToString());
        Assert.Contains(summary.Doubts, static doubt => doubt.Contains("trace", StringComparison.Ordinal));

        (int profileCode, string profile, string profileErrors) = await Runs.ProgramAsync("profile", trace, "--top", "5");
        Assert.True(profileCode == 0, profile + profileErrors);
        Assert.Contains("| exclusive", profile, StringComparison.Ordinal);
        Assert.Contains("collections:", profile, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("s9")]
    [InlineData("s2", "--size", "3")]
    [InlineData("s2", "--stack", "rocket")]
    [InlineData("s2", "--stack", "external")]
    [InlineData("s2", "--command", "rocket=launch")]
    [InlineData("s2", "--command", "dotnet=x {port}")]
    [InlineData("s2", "--external", "tcp://127.0.0.1:1", "--transport", "tls")]
    [InlineData("s2", "--ccu", "2000000000")]
    [InlineData("s2", "--rounds", "0")]
    [InlineData("s2", "--inflight", "0")]
    [InlineData("s1", "--inflight", "1")]
    [InlineData("s2", "--size", "8000000", "--inflight", "1000", "--send-batch", "1000")]
    [InlineData("s2", "--profile", "quick", "--output", "/dev/null/results")]
    [InlineData("s2", "--profile", "quick", "--trace", "/dev/null/server.nettrace")]
    [InlineData("patterns", "--count", "0")]
    [InlineData("patterns", "--round-trips", "0")]
    [InlineData("patterns", "--pattern", "PAIR", "--transport", "inproc", "--size", "64", "--output", "/dev/null/results")]
    [InlineData("patterns", "--pattern", "PAIR", "--transport", "inproc", "--size", "64", "--bar", "PAIR/tcp/64:rate>=1")]
    [InlineData("multi", "--pattern", "PUBSUB", "--bar", "PUBSUB/tcp/64:latency<=1")]
    [InlineData("many", "--dealers", "2000000000")]
    [InlineData("soak", "--minutes", "NaN")]
    [InlineData("soak", "--minutes", "1e300")]
    [InlineData("soak", "--minutes", "1", "--output", "/dev/null/results")]
    [InlineData("report", "/dev/null/results")]
    [InlineData("client", "s2", "--connect", "tcp://nobody.invalid:1", "--profile", "quick")]
    [InlineData("client", "s2", "--connect", "http://127.0.0.1:1")]
    [InlineData("server", "--endpoint", "nowhere")]
    [InlineData("server", "--endpoint", "tcp://192.0.2.1:1", "--stack", "kestrel")]
    [InlineData("server", "--shards", "1000000")]
    [InlineData("server", "--stack", "native")]
    [InlineData("pattern-run", "--stack", "native", "--pattern", "PAIR", "--transport", "tcp", "--size", "64")]
    [InlineData("profile", "no-such-file.nettrace")]
    public async Task A_request_that_makes_no_sense_says_why_and_ends_with_2(params string[] arguments)
    {
        (int code, string output, string errors) = await Runs.ProgramAsync(arguments);
        Assert.True(code == 2, output + errors);
        Assert.NotEmpty(errors.Trim());
        Assert.DoesNotContain("   at ", errors, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_native_library_that_cannot_be_loaded_is_skipped_and_not_failed()
    {
        using var folder = new TestFolder();
        await File.WriteAllTextAsync(folder.File("no.so"), "no library", TestContext.Current.CancellationToken);
        (int code, string output, string errors) = await Runs.ProgramAsync(
            folder.File("no.so"), ["s1", "--profile", "quick", "--drain-timeout", "60", "--ccu", "2", "--stack", "native", "dotnet",
                "--quiet", "--output", folder.Path]);
        Assert.True(code == 0, output + errors);
        Assert.Contains("SKIPPED: native", errors, StringComparison.Ordinal);
    }
}
