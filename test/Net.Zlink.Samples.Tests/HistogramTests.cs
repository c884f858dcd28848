using EchoServer;
using HdrHistogram;
using Xunit;

namespace Net.Zlink.Samples.Tests;

public class HistogramTests
{
    [Fact]
    public void A_window_has_what_was_recorded_since_it_was_opened()
    {
        HistogramBase histogram = HistogramWindow.NewHistogram();
        HistogramWindow.Record(histogram, TimeSpan.FromSeconds(5));
        var window = new HistogramWindow(histogram);
        window.Open();
        for (int i = 1; i <= 1000; i++)
        {
            HistogramWindow.Record(histogram, TimeSpan.FromMicroseconds(i));
        }

        window.Close();

        Assert.InRange(window.Percentile(50).Nanoseconds, 500_000, 510_000);
        Assert.InRange(window.Percentile(99).Nanoseconds, 990_000, 1_000_000);
        Assert.InRange(window.Percentile(100).Nanoseconds, 1_000_000, 1_010_000);
    }

    [Fact]
    public void A_time_too_long_to_measure_counts_as_the_longest()
    {
        HistogramBase histogram = HistogramWindow.NewHistogram();
        var window = new HistogramWindow(histogram);
        HistogramWindow.Record(histogram, TimeSpan.MaxValue);
        HistogramWindow.Record(histogram, TimeSpan.FromSeconds(-1));
        window.Close();

        Assert.Equal(0, window.Percentile(50).Nanoseconds);
        Assert.InRange(window.Percentile(100).Nanoseconds, 1L << 36, (1L << 36) * 101 / 100);
    }

    [Fact]
    public void A_window_without_counts_has_no_percentile()
    {
        HistogramBase histogram = HistogramWindow.NewHistogram();
        HistogramWindow.Record(histogram, TimeSpan.FromSeconds(1));
        var window = new HistogramWindow(histogram);
        window.Open();
        window.Close();

        Assert.Equal(-1, window.Percentile(50).Nanoseconds);
    }
}
