using EchoServer;
using Xunit;

namespace Net.Zlink.Tests.Samples;

public class HistogramTests
{
    [Fact]
    public void A_percentile_is_at_most_a_thirty_second_above_the_true_one()
    {
        for (long value = 1; value < 1L << 36; value = (value * 9 / 8) + 1)
        {
            var histogram = new Histogram();
            histogram.Record(value);

            Assert.InRange(Histogram.Percentile(CountsOf(histogram), 50), value, value + (value / 32));
        }
    }

    [Fact]
    public void Percentiles_divide_what_was_recorded()
    {
        var histogram = new Histogram();
        for (int i = 1; i <= 1000; i++)
        {
            histogram.Record(i * 1000);
        }

        long[] counts = CountsOf(histogram);

        Assert.InRange(Histogram.Percentile(counts, 50), 500_000, 516_000);
        Assert.InRange(Histogram.Percentile(counts, 99), 990_000, 1_022_000);
        Assert.InRange(Histogram.Percentile(counts, 100), 1_000_000, 1_032_000);
    }

    [Fact]
    public void Buckets_follow_each_other_without_gap_or_overlap()
    {
        for (int bucket = 0; bucket < Histogram.BucketCount - 1; bucket++)
        {
            long last = Histogram.UpperBoundOf(bucket);

            Assert.Equal(bucket, Histogram.BucketOf(last));
            Assert.Equal(bucket + 1, Histogram.BucketOf(last + 1));
        }
    }

    [Fact]
    public void A_time_too_long_to_measure_counts_in_the_last_bucket()
    {
        Assert.Equal(Histogram.BucketCount - 1, Histogram.BucketOf(long.MaxValue));
        Assert.Equal(0, Histogram.BucketOf(-5));
    }

    [Fact]
    public void An_empty_histogram_has_no_percentile()
    {
        Assert.Equal(-1, Histogram.Percentile(CountsOf(new Histogram()), 50));
    }

    private static long[] CountsOf(Histogram histogram)
    {
        long[] counts = new long[Histogram.BucketCount];
        histogram.CopyTo(counts);
        return counts;
    }
}
