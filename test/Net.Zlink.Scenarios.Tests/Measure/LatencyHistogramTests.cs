using Net.Zlink.Scenarios.Measure;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Scenarios.Tests.Measure;

public sealed class LatencyHistogramTests
{
    // A bucket is at most 1/1024 of its value wide.
    private const double Tolerance = 1.0 / 1024;

    [Fact]
    public void Percentiles_are_those_of_the_sorted_values_but_for_a_thousandth()
    {
        var random = new Random(17);
        var histogram = new LatencyHistogram();
        var values = new long[50_000];
        for (int i = 0; i < values.Length; i++)
        {
            // From nanoseconds to seconds, evenly over the powers of ten.
            values[i] = (long)Math.Pow(10, random.NextDouble() * 9);
            histogram.Record(values[i]);
        }

        Array.Sort(values);
        foreach (double percent in new[] { 0.1, 1, 10, 50, 90, 95, 99, 99.9, 100 })
        {
            // HdrHistogram rounds the position in the sorted values to the nearest.
            long exact = values[Math.Max(0, (int)((values.Length * percent / 100) + 0.5) - 1)];
            Assert.InRange(histogram.Percentile(percent), exact, (long)Math.Ceiling(exact * (1 + Tolerance)));
        }

        Assert.Equal(values[0], histogram.Min);
        Assert.Equal(values[^1], histogram.Max);
        Assert.Equal(values.Average(), histogram.Mean, tolerance: 1);
    }

    [Fact]
    public void Two_latency_histograms_add_up_to_the_histogram_of_one_thread()
    {
        var one = new LatencyHistogram();
        var first = new LatencyHistogram();
        var second = new LatencyHistogram();
        for (int i = 0; i < 10_000; i++)
        {
            long value = i * 1_237L;
            one.Record(value);
            (i % 3 == 0 ? first : second).Record(value);
        }

        var sum = new LatencyHistogram();
        sum.Add(first);
        sum.Add(second);
        Assert.Equal(one.Count, sum.Count);
        Assert.Equal(one.Min, sum.Min);
        Assert.Equal(one.Max, sum.Max);
        Assert.Equal(one.Percentile(50), sum.Percentile(50));
        Assert.Equal(one.Percentile(99), sum.Percentile(99));
        Assert.Equal(one.Curve(), sum.Curve());
    }

    [Fact]
    public void A_percentile_since_a_copy_leaves_out_what_was_before()
    {
        var histogram = new LatencyHistogram();
        for (int i = 0; i < 1000; i++)
        {
            histogram.Record(1_000_000_000);
        }

        var before = new LatencyHistogram();
        before.Add(histogram);
        for (int i = 0; i < 10; i++)
        {
            histogram.Record(500);
        }

        Assert.True(histogram.Percentile(99) > 900_000_000);
        histogram.Subtract(before);
        Assert.Equal(10, histogram.Count);
        Assert.Equal(500, histogram.Percentile(99));
    }

    [Fact]
    public void Values_beyond_both_ends_are_counted_at_the_ends()
    {
        var histogram = new LatencyHistogram();
        histogram.Record(-5);
        histogram.Record(long.MaxValue);
        Assert.Equal(2, histogram.Count);
        Assert.Equal(0, histogram.Min);
        Assert.Equal(0, histogram.Percentile(50));
        Assert.Equal(LatencyHistogram.Longest, histogram.Percentile(100));
    }

    [Fact]
    public void An_empty_one_has_no_curve_and_only_zeros()
    {
        var histogram = new LatencyHistogram();
        Assert.Equal(0, histogram.Percentile(99));
        Assert.Equal(0, histogram.Min);
        Assert.Equal(0, histogram.Max);
        Assert.Empty(histogram.Curve());
    }

    [Fact]
    public void The_curve_rises_to_the_longest_at_100_percent()
    {
        var histogram = new LatencyHistogram();
        for (int i = 1; i <= 100_000; i++)
        {
            histogram.Record(i * 10L);
        }

        IReadOnlyList<LatencyPoint> curve = histogram.Curve();
        Assert.Equal(new LatencyPoint(100, 1000), curve[^1]);
        Assert.True(curve.Count > 40, $"{curve.Count} points");
        for (int i = 1; i < curve.Count; i++)
        {
            Assert.True(curve[i].Percent > curve[i - 1].Percent);
            Assert.True(curve[i].Microseconds >= curve[i - 1].Microseconds);
        }
    }

    [Fact]
    public void Clear_leaves_nothing()
    {
        var histogram = new LatencyHistogram();
        histogram.Record(77);
        histogram.Clear();
        histogram.Record(5);
        Assert.Equal(1, histogram.Count);
        Assert.Equal(5, histogram.Percentile(100));
        Assert.Equal(5, histogram.Mean);
    }

    [Fact]
    public void Recording_allocates_nothing()
    {
        var histogram = new LatencyHistogram();
        long i = 0;
        Assert.Equal(0, Allocations.Of(() => histogram.Record(i * i++), rounds: 10_000));
    }
}
