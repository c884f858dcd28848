using Net.Zlink.Benchmarks.Compare;
using Xunit;

namespace Net.Zlink.Scenarios.Tests.Bench;

public sealed class VerdictTests
{
    [Theory]
    [InlineData("ours:rate>=1.05x", new[] { 1.0, 1.05, 1.2 }, Verdict.Met)]
    [InlineData("ours:rate>=1.05x", new[] { 0.9, 1.04, 1.2 }, Verdict.WithinNoise)]
    [InlineData("ours:rate>=1.05x", new[] { 0.9, 1.0, 1.04 }, Verdict.Missed)]
    [InlineData("ours:p50<=0.7x", new[] { 0.6, 0.7, 0.9 }, Verdict.Met)]
    [InlineData("ours:p50<=0.7x", new[] { 0.6, 0.71, 0.9 }, Verdict.WithinNoise)]
    [InlineData("ours:p50<=0.7x", new[] { 0.71, 0.8, 0.9 }, Verdict.Missed)]
    [InlineData("ours:rate>=1.05x", new double[0], Verdict.Void)]
    public void The_median_meets_a_bar_and_only_when_no_round_reaches_it_is_it_missed(string bar, double[] rounds, object verdict) =>
        Assert.Equal(verdict, Verdicts.Judge(rounds, Bar.Parse(bar)));

    [Fact]
    public void A_ratio_compares_only_runs_of_the_same_round()
    {
        Run[] runs =
        [
            RateOf("asio", 1, 100), RateOf("ours", 1, 110),
            RateOf("ours", 2, 90), RateOf("asio", 2, 50),
            RateOf("asio", 3, 100),
        ];

        Assert.Equal([1.1, 1.8], Ratios.Of(runs, "ours", "asio", Metric.Rate));
    }

    [Fact]
    public void A_failed_round_misses_the_bar_however_good_the_others_were()
    {
        Run[] runs =
        [
            RateOf("asio", 1, 100), RateOf("ours", 1, 200),
            RateOf("asio", 2, 100), RateOf("ours", 2, 200) with { Fault = "a reply was lost" },
        ];

        Assert.Equal(Verdict.Missed, Verdicts.Judge(runs, Bar.Parse("ours:rate>=1x"), "asio"));
    }

    [Fact]
    public void A_failed_round_of_the_reference_is_left_out_and_a_bar_without_any_round_is_void()
    {
        Run[] runs =
        [
            RateOf("asio", 1, 100) with { Fault = "it crashed" }, RateOf("ours", 1, 200),
            RateOf("asio", 2, 100), RateOf("ours", 2, 90),
        ];

        Assert.Equal(Verdict.Missed, Verdicts.Judge(runs, Bar.Parse("ours:rate>=1x"), "asio"));
        Assert.Equal(Verdict.Void, Verdicts.Judge(runs[..2], Bar.Parse("ours:rate>=1x"), "asio"));
    }

    [Fact]
    public void A_bar_without_x_is_about_the_figure_itself_and_one_with_a_name_about_the_ratio_to_that_server()
    {
        Run[] runs = [RateOf("asio", 1, 100), RateOf("kestrel", 1, 50), RateOf("ours", 1, 60)];

        Assert.Equal(Verdict.Met, Verdicts.Judge(runs, Bar.Parse("ours:rate>=60"), "asio"));
        Assert.Equal(Verdict.Missed, Verdicts.Judge(runs, Bar.Parse("ours:rate>=61"), "asio"));
        Assert.Equal(Verdict.Met, Verdicts.Judge(runs, Bar.Parse("ours:rate>=1.2x@kestrel"), "asio"));
        Assert.Equal(Verdict.Missed, Verdicts.Judge(runs, Bar.Parse("ours:rate>=1.2x"), "asio"));
    }

    private static Run RateOf(string server, int round, double rate) =>
        new() { Server = server, Round = round, Load = new LoadResult { Result = "PASS", MessagesPerSecond = rate } };
}
