using Net.Zlink.Scenarios.Patterns.Soak;
using Net.Zlink.Scenarios.Results;
using Xunit;

namespace Net.Zlink.Scenarios.Tests.Patterns.Soak;

public sealed class SoakFigureTests
{
    private static readonly SoakFigure Memory = new("memory", static sample => sample.MemoryMegabytes, PerHour: 4, Noise: 1);

    [Fact]
    public void The_slope_of_a_line_is_found_through_noise_that_cancels_out()
    {
        Assert.Equal(3, LeastSquares.Slope([(0, 1), (1, 4), (2, 7), (3, 10)]), tolerance: 1e-12);
        Assert.Equal(3, LeastSquares.Slope([(0, 2), (1, 3), (2, 6), (3, 11)]), tolerance: 1e-12);
        Assert.Equal(-0.5, LeastSquares.Slope([(10, 5), (20, 0)]), tolerance: 1e-12);
    }

    [Fact]
    public void The_slope_of_points_that_make_no_line_is_zero()
    {
        Assert.Equal(0, LeastSquares.Slope([]));
        Assert.Equal(0, LeastSquares.Slope([(1, 5)]));
        Assert.Equal(0, LeastSquares.Slope([(1, 5), (1, 9)]));
    }

    [Theory]
    [InlineData(3.9, "PASS")]
    [InlineData(4.1, "FAIL")]
    [InlineData(-50, "PASS")]
    public void A_steady_growth_above_the_limit_fails(double megabytesPerHour, string verdict)
    {
        SoakSlope slope = Memory.Judge(Samples(hours: 4, hour => 100 + (megabytesPerHour * hour)));
        Assert.Equal(verdict, slope.PassFail);
        Assert.Equal(megabytesPerHour, slope.PerHour, tolerance: 1e-9);
        Assert.Equal(4, slope.LimitPerHour);
    }

    [Fact]
    public void Memory_that_grows_only_in_the_first_half_of_a_soak_is_no_leak() =>
        Assert.Equal(ResultRow.Pass, Memory.Judge(Samples(hours: 4, static hour => hour < 2 ? 100 * hour : 200)).PassFail);

    [Fact]
    public void Memory_that_grows_only_in_the_second_half_of_a_soak_is_a_leak() =>
        Assert.Equal(ResultRow.Fail, Memory.Judge(Samples(hours: 4, static hour => hour < 2 ? 100 : 50 * hour)).PassFail);

    [Fact]
    public void In_a_short_run_growth_below_the_noise_is_not_held_against_it()
    {
        // Half a megabyte in the three minutes of the second half would be 10 an hour.
        SoakSlope slope = Memory.Judge(Samples(hours: 0.1, static hour => 100 + (10 * hour)));
        Assert.Equal(10, slope.PerHour, tolerance: 1e-6);
        Assert.InRange(slope.LimitPerHour, 20, 21);
        Assert.Equal(ResultRow.Pass, slope.PassFail);
    }

    [Fact]
    public void Too_few_samples_prove_nothing_and_do_not_pass()
    {
        Assert.Equal(ResultRow.Fail, Memory.Judge([]).PassFail);
        Assert.Equal(ResultRow.Fail, Memory.Judge([.. Samples(hours: 4, static _ => 100).Take(5)]).PassFail);
    }

    [Fact]
    public void A_run_that_is_too_short_for_a_verdict_says_how_long_it_must_be()
    {
        List<SoakSample> samples = Samples(hours: 4, static _ => 100);
        Assert.Contains("--minutes 0.2", SoakFigure.WhyNoVerdict([.. samples.Take(6)]), StringComparison.Ordinal);
        Assert.Null(SoakFigure.WhyNoVerdict([.. samples.Take(7)]));

        // The one says so exactly where the other cannot judge.
        Assert.Equal(ResultRow.Fail, Memory.Judge([.. samples.Take(6)]).PassFail);
        Assert.Equal(ResultRow.Pass, Memory.Judge([.. samples.Take(7)]).PassFail);
    }

    private static List<SoakSample> Samples(double hours, Func<double, double> megabytes)
    {
        const int Count = 101;
        return [.. Enumerable.Range(0, Count).Select(i => hours * i / (Count - 1))
            .Select(hour => new SoakSample(hour * 3600, megabytes(hour), 0, 0, 0, 0, 0, 0))];
    }
}
