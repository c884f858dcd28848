using HdrHistogram;
using Samples;

namespace EchoServer;

/// <summary>What a histogram counted between two moments: the last second of the status line, one step of the demo.</summary>
/// <remarks>
/// Not HdrHistogram's Recorder, which has one reader: here the status line and the final summary read the same histogram. All arrays are
/// made beforehand, so the status line shows the garbage of the echo alone.
/// </remarks>
internal sealed class HistogramWindow(HistogramBase histogram)
{
    // 68 s; longer durations are counted there. Two digits: a percentile is at most 1 % off.
    private const long Longest = 1L << 36;
    private const int Digits = 2;

    private readonly LongHistogram _atStart = new(Longest, Digits);
    private readonly LongHistogram _counts = new(Longest, Digits);

    /// <summary>A histogram of durations in nanoseconds, into which any thread may record at any time.</summary>
    public static HistogramBase NewHistogram() => new LongConcurrentHistogram(1, Longest, Digits);

    public static void Record(HistogramBase histogram, TimeSpan duration) =>
        histogram.RecordValue(Math.Clamp((long)duration.TotalNanoseconds, 0, Longest));

    /// <summary>The window begins now; what was counted before no longer matters.</summary>
    public void Open()
    {
        _atStart.Reset();
        _atStart.Add(histogram);
    }

    /// <summary>The window ends now: <see cref="Percentile"/> answers for it until the next close.</summary>
    public void Close()
    {
        _counts.Reset();
        _counts.Add(histogram);
        _counts.Subtract(_atStart, Longest);
    }

    /// <summary>In nanoseconds; -1 if nothing was counted in the window.</summary>
    public Duration Percentile(double percent) => new(_counts.TotalCount > 0 ? _counts.GetValueAtPercentile(percent) : -1);
}
