using Net.Zlink.Scenarios.Report.Charts;
using Xunit;

namespace Net.Zlink.Scenarios.Tests.Report.Charts;

public sealed class ChartAxisTests
{
    [Theory]
    [InlineData(0)]
    [InlineData(0.003)]
    [InlineData(1)]
    [InlineData(7.3)]
    [InlineData(99)]
    [InlineData(1_234_567)]
    [InlineData(1e12)]
    public void A_linear_axis_begins_at_0_and_ends_at_or_above_the_highest_with_few_round_ticks(double highest)
    {
        var axis = ChartAxis.Linear("x", [highest / 2, highest]);
        Assert.InRange(axis.Ticks.Count, 2, 7);
        Assert.Equal(0, axis.Ticks[0].Value);
        Assert.True(axis.Ticks[^1].Value >= highest * 0.999999);
        Assert.InRange(axis.Place(highest), 0, 1);
        Assert.Equal(1, axis.Place(axis.Ticks[^1].Value), tolerance: 1e-9);
    }

    [Theory]
    [InlineData(1, 1)]
    [InlineData(3, 4)]
    [InlineData(0.2, 3_000_000)]
    [InlineData(90, 110)]
    [InlineData(1e-3, 1e12)]
    public void A_logarithmic_axis_holds_all_values_and_has_some_ticks_but_not_many(double low, double high)
    {
        var axis = ChartAxis.Logarithmic("y", [low, high]);
        Assert.InRange(axis.Ticks.Count, 2, 8);
        Assert.InRange(axis.Place(low), 0, 1);
        Assert.InRange(axis.Place(high), axis.Place(low), 1);
        Assert.All(axis.Ticks.Zip(axis.Ticks.Skip(1)), pair => Assert.True(axis.Place(pair.First.Value) < axis.Place(pair.Second.Value)));
    }

    [Fact]
    public void Values_that_cannot_be_drawn_do_not_stretch_a_chart_axis()
    {
        Assert.Equal(ChartAxis.Logarithmic("y", [10, 100]).Ticks,
            ChartAxis.Logarithmic("y", [10, 0, -5, double.NaN, double.PositiveInfinity, 100]).Ticks);
        Assert.False(ChartAxis.Logarithmic("y", [1]).Shows(0));
        Assert.True(ChartAxis.Linear("y", [1]).Shows(0));
        Assert.NotEmpty(ChartAxis.Linear("y", []).Ticks);
        Assert.NotEmpty(ChartAxis.Logarithmic("y", []).Ticks);
    }

    [Fact]
    public void An_axis_of_time_ends_where_the_run_ends()
    {
        var axis = ChartAxis.Time("s", [1, 31]);
        Assert.Equal(1, axis.Place(31));
        Assert.True(axis.Ticks[^1].Value <= 31);
    }
}
