using Net.Zlink.Benchmarks.Common;
using Net.Zlink.Scenarios.Results;
using Net.Zlink.Scenarios.Runner;
using Net.Zlink.Scenarios.Settings;
using Xunit;

namespace Net.Zlink.Scenarios.Tests.Runner;

public sealed class SummaryMakerTests
{
    private static readonly RunPlan Plan = new(Profiles.Fixed, 3, ["a", "b"], null, null, "not pinned", 20_000);

    [Fact]
    public void Ratios_are_taken_within_each_round()
    {
        Round[] rounds = [Of("a", 1, 100), Of("b", 1, 50), Of("b", 2, 300), Of("a", 2, 200), Of("a", 3, 400), Of("b", 3, 400)];
        IReadOnlyList<StackSummary> stacks = SummaryMaker.Stacks(rounds, ["a", "b"]);
        Assert.Equal(new Spread(200, 100, 400), stacks[0].Throughput);
        Assert.Null(stacks[0].Ratios);
        Assert.Equal(new Spread(300, 50, 400), stacks[1].Throughput);
        Assert.Equal("a", stacks[1].Ratios!.To);
        Assert.Equal(new Spread(1, 0.5, 1.5), stacks[1].Ratios!.Throughput);
        Assert.Equal("PASS", SummaryMaker.Verdict(rounds));
    }

    [Fact]
    public void A_failed_round_fails_its_stack_and_the_run_and_counts_in_no_figure()
    {
        Round[] rounds = [Of("a", 1, 100), Of("b", 1, 1000, violations: 1), Of("b", 2, 50), Of("a", 2, 100)];
        IReadOnlyList<StackSummary> stacks = SummaryMaker.Stacks(rounds, ["a", "b"]);
        Assert.Equal(("PASS", 2), (stacks[0].PassFail, stacks[0].Passed));
        Assert.Equal(("FAIL", 1), (stacks[1].PassFail, stacks[1].Passed));
        Assert.Equal(new Spread(50, 50, 50), stacks[1].Throughput);
        Assert.Equal(new Spread(0.5, 0.5, 0.5), stacks[1].Ratios!.Throughput);
        Assert.Equal("FAIL", SummaryMaker.Verdict(rounds));
        Assert.Contains(Doubts(rounds), static doubt => doubt.Contains("a round failed", StringComparison.Ordinal));
    }

    [Fact]
    public void A_server_that_ended_fails_whatever_the_columns_say()
    {
        Round round = Of("a", 1, 100) with { Fault = "the server ended" };
        Assert.True(round.Row.Passed);
        Assert.Equal("FAIL", SummaryMaker.Verdict([round]));
        Assert.Null(SummaryMaker.Stacks([round], ["a"])[0].Throughput);
    }

    [Fact]
    public void No_round_is_no_pass() => Assert.Equal("FAIL", SummaryMaker.Verdict([]));

    [Fact]
    public void A_quiet_run_has_no_doubts() => Assert.Empty(Doubts([Of("a", 1, 100), Of("a", 2, 110)]));

    [Fact]
    public void Other_programs_and_a_reference_that_moves_are_doubts()
    {
        Assert.Contains(Doubts([Of("a", 1, 100) with { OthersPercent = 6 }]),
            static doubt => doubt.Contains("other programs", StringComparison.Ordinal));
        Assert.Contains(Doubts([Of("a", 1, 100), Of("a", 2, 150)]), static doubt => doubt.Contains("moved", StringComparison.Ordinal));
    }

    [Fact]
    public void A_reference_that_moves_is_a_doubt_in_s1_too() =>
        Assert.Contains(Doubts([Of("a", 1, 100), Of("a", 2, 150)], Scenario.S1),
            static doubt => doubt.Contains("moved", StringComparison.Ordinal));

    [Fact]
    public void A_server_that_was_not_started_here_is_no_doubt_and_what_cannot_be_judged_of_it_is_said()
    {
        Round[] rounds = [Of("external", 1, 100), Of("a", 1, 100) with { Server = new ServerDetail(), OthersPercent = 1 }];
        Assert.Empty(Doubts(rounds));
        IReadOnlyList<string> here = Net.Zlink.Scenarios.Runner.Doubts.Unjudged(rounds, isExternalElsewhere: false);
        Assert.Contains(here, static one => one.StartsWith("what other programs used in the rounds of external", StringComparison.Ordinal));
        Assert.Contains(here, static one => one.Contains("external's processor time", StringComparison.Ordinal));
    }

    [Fact]
    public void Of_a_server_on_another_machine_this_one_is_judged_and_that_one_is_not()
    {
        Round[] rounds = [Of("external", 1, 100) with { OthersPercent = 6 }];
        Assert.Contains(Doubts(rounds), static doubt => doubt.Contains("other programs", StringComparison.Ordinal));
        Assert.Contains(Net.Zlink.Scenarios.Runner.Doubts.Unjudged(rounds, isExternalElsewhere: true),
            static one => one.Contains("external's machine", StringComparison.Ordinal));
    }

    [Fact]
    public void A_run_with_only_its_own_servers_leaves_nothing_unjudged() =>
        Assert.Empty(Net.Zlink.Scenarios.Runner.Doubts.Unjudged(
            [Of("a", 1, 100) with { Server = new ServerDetail(), OthersPercent = 1 }], isExternalElsewhere: false));

    private static IReadOnlyList<string> Doubts(IReadOnlyList<Round> rounds, Scenario scenario = Scenario.S2) =>
        Net.Zlink.Scenarios.Runner.Doubts.Of(new ScenarioSettings { Scenario = scenario }, Plan, VersionInfo.Collect()
            with
        { Build = "Release" }, rounds, SummaryMaker.Stacks(rounds, ["a"]), isTraced: false);

    private static Round Of(string stack, int number, double throughput, long violations = 0) => new()
    {
        Stack = stack,
        Number = number,
        Started = DateTimeOffset.UnixEpoch,
        Row = new ResultRow
        {
            ScenarioId = stack + "-s2",
            Transport = "tcp",
            Ccu = 1,
            InFlight = 1,
            Size = 64,
            ConnectSuccess = 1,
            Sent = 1,
            Recv = 1,
            Throughput = throughput,
            P50 = 1,
            P99 = 2,
            GatingViolation = violations
        },
        Client = new ClientDetail { Timed = 1, ConnectSeconds = 0.1 },
    };
}
