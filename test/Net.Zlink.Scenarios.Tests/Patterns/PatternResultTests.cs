using Net.Zlink.Benchmarks.Common;
using Net.Zlink.Benchmarks.Compare;
using Net.Zlink.Scenarios.Patterns;
using Net.Zlink.Scenarios.Patterns.Running;
using Net.Zlink.Scenarios.Results;
using Xunit;

namespace Net.Zlink.Scenarios.Tests.Patterns;

public sealed class PatternResultTests
{
    private static readonly string[] Stacks = [PatternStack.Native, PatternStack.Managed, PatternStack.Batch];

    private static readonly PatternCase Case = new(PatternNames.Pair, "tcp", 64);

    [Fact]
    public void The_lines_are_medians_per_stack_and_there_is_none_for_a_figure_nobody_has()
    {
        PatternResult result = PatternResult.Of(Case,
            [Row(PatternStack.Managed, 1, 300, 5), Row(PatternStack.Managed, 2, 100, 7), Row(PatternStack.Managed, 3, 200, 6),
            Row(PatternStack.Native, 1, 50)], [], Stacks);
        Assert.Equal(
            [
                new ResultLine(PatternStack.Native, "PAIR", "tcp", 64, ResultLines.Throughput, 50),
                new ResultLine(PatternStack.Managed, "PAIR", "tcp", 64, ResultLines.Throughput, 200),
                new ResultLine(PatternStack.Managed, "PAIR", "tcp", 64, ResultLines.Latency, 6),
            ],
            result.Lines(Stacks));
    }

    [Theory]
    [InlineData("PAIR/tcp/64:rate>=2x", "met")]
    [InlineData("PAIR/tcp/64:rate>=3x", "within noise")]
    [InlineData("PAIR/tcp/64:rate>=5x", "missed")]
    [InlineData("*/*/*:rate>=200", "met")]
    public void A_ratio_is_taken_within_each_round_and_its_median_is_judged(string bar, string verdict)
    {
        PatternRow[] rows =
        [
            Row(PatternStack.Native, 1, 100), Row(PatternStack.Managed, 1, 200),
            Row(PatternStack.Native, 2, 100), Row(PatternStack.Managed, 2, 250),
            Row(PatternStack.Native, 3, 50), Row(PatternStack.Managed, 3, 200),
        ];
        PatternResult result = PatternResult.Of(Case, rows, [PatternBar.Parse(bar)], Stacks);
        Assert.Equal(verdict, Assert.Single(result.Verdicts()).Verdict);
        Assert.Equal(verdict is "missed", result.Failed);
        Assert.Equal(verdict is "within noise", result.IsWithinNoise);
    }

    [Fact]
    public void A_round_that_failed_is_a_failure_however_fast_the_others_were()
    {
        PatternRow[] rows = [Row(PatternStack.Managed, 1, 1000), Row(PatternStack.Managed, 2, 1000)
            with { MessagesPerSecond = null, Fault = "it ended without a figure" }];
        Assert.True(PatternResult.Of(Case, rows, [], Stacks).Failed);
    }

    [Theory]
    [InlineData("rate>=2")]
    [InlineData("PAIR/tcp:rate>=2x")]
    [InlineData("PAIR/tcp/64:p99<=2x")]
    [InlineData("PAIR/tcp/64:rate>=2x@kestrel")]
    public void A_bar_that_makes_no_sense_is_refused(string bar) => Assert.Throws<RequestException>(() => PatternBar.Parse(bar));

    [Fact]
    public void A_bar_about_no_case_that_is_run_is_refused_and_of_a_set_one_bar_is_enough()
    {
        PatternBar.CheckAbout([PatternBar.Parse("PAIR/*/64:rate>=1")], ["issue"], [Case]);
        RequestException e = Assert.Throws<RequestException>(
            () => PatternBar.CheckAbout([PatternBar.Parse("PAIR/tcp/1024:rate>=1")], [], [Case]));
        Assert.Contains("PAIR/tcp/1024:rate", e.Message, StringComparison.Ordinal);
        Assert.Throws<RequestException>(() => PatternBar.CheckAbout([], ["issue"], [new PatternCase(PatternNames.Stream, "ws", 64)]));
    }

    [Fact]
    public void A_bar_on_a_case_that_nothing_could_run_is_not_met()
    {
        PatternResult result = PatternResult.Of(Case, [], [PatternBar.Parse("PAIR/tcp/64:rate>=1")], Stacks);
        Assert.Equal("void", Assert.Single(result.Verdicts()).Verdict);
        Assert.True(result.Failed);
    }

    [Fact]
    public void The_bars_of_the_issue_are_about_cases_that_exist_and_leave_out_the_latency_of_PUBSUB()
    {
        Bar[] bars = [.. PatternBar.Preset("issue")];
        var cases = new List<PatternCase>();
        foreach (string pattern in PatternNames.All)
        {
            cases.AddRange(from transport in PatternNames.Transports
                           from size in PatternNames.Sizes
                           select new PatternCase(
                pattern, transport, size));
        }

        Assert.All(bars, bar => Assert.Contains(cases, bar.IsAbout));
        Assert.DoesNotContain(bars, static bar => bar.Metric == Metric.Latency
            && bar.IsAbout(new PatternCase(PatternNames.PubSub, "tcp", 64)));
    }

    [Fact]
    public void A_PAIR_has_no_second_client_and_STREAM_no_inproc()
    {
        Assert.True((Case with { Clients = 2 }).IsImpossible);
        Assert.False(Case.IsImpossible);
        Assert.True(new PatternCase(PatternNames.Stream, PatternNames.Inproc, 64).IsImpossible);
        Assert.False(new PatternCase(PatternNames.Stream, "wss", 64).IsImpossible);
    }

    private static PatternRow Row(string stack, int round, double rate, double? latency = null) => new()
    {
        Stack = stack,
        Pattern = Case.Pattern,
        Transport = Case.Transport,
        Size = Case.Size,
        Api = PatternStack.ApiOf(stack),
        Round = round,
        MessagesPerSecond = rate,
        LatencyMicroseconds = latency,
    };
}
