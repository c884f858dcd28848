using HdrHistogram;
using Samples;

namespace Net.Zlink.Scenarios.Measure;

/// <summary>Counts durations in an HdrHistogram: 1 ns to 18 minutes with an error of at most 0.1 %, in 256 KiB that never grow.</summary>
/// <remarks>
/// One thread records (each has a histogram of its own, added up later), without a lock and without an interlocked operation. Any thread
/// may read meanwhile and sees counts that are at most a moment old. A closed loop leaves out what it did not send while it waited
/// (coordinated omission): docs/benchmarks/scenarios.md.
/// </remarks>
internal sealed class LatencyHistogram
{
    // 2^40 ns are 18 minutes: longer than any run may wait for a reply. What is longer counts there.
    public const long Longest = 1L << 40;

    private const int Digits = 3;

    private readonly LongHistogram _counts = new(Longest, Digits);
    private long _max;
    private long _min = long.MaxValue;
    private double _sum;

    public long Count => _counts.TotalCount;

    /// <summary>The longest, exactly, where HdrHistogram rounds; 0 if there is none.</summary>
    public long Max => Volatile.Read(ref _max);

    /// <summary>The shortest, exactly; 0 if there is none.</summary>
    public long Min => Count == 0 ? 0 : Volatile.Read(ref _min);

    public double Mean => Count == 0 ? 0 : _sum / Count;

    /// <param name="nanoseconds">Below 0 counts as 0.</param>
    public void Record(long nanoseconds)
    {
        nanoseconds = Math.Clamp(nanoseconds, 0, Longest);
        _counts.RecordValue(nanoseconds);
        _sum += nanoseconds;
        _max = Math.Max(_max, nanoseconds);
        _min = Math.Min(_min, nanoseconds);
    }

    /// <summary>Adds what <paramref name="other"/> counted.</summary>
    public void Add(LatencyHistogram other)
    {
        _counts.Add(other._counts);
        _sum += other._sum;
        _max = Math.Max(_max, other._max);
        _min = Math.Min(_min, other._min);
    }

    /// <summary>Leaves what was counted since <paramref name="before"/> was copied; the longest and the shortest stay.</summary>
    public void Subtract(LatencyHistogram before)
    {
        _counts.Subtract(before._counts, before._max);
        _sum -= before._sum;
    }

    public void Clear()
    {
        _counts.Reset();
        _sum = 0;
        _max = 0;
        _min = long.MaxValue;
    }

    /// <summary>The smallest value, up to 0.1 %, that <paramref name="percent"/> percent do not exceed, in nanoseconds; 0 if nothing was
    /// counted.</summary>
    public long Percentile(double percent) => Count > 0 ? Math.Min(_counts.GetValueAtPercentile(percent), Max) : 0;

    /// <summary>The curve of percentiles: each step halves the distance to 100 % in four parts, until one recorded value is left.</summary>
    public IReadOnlyList<LatencyPoint> Curve()
    {
        const double NanosecondsPerMicrosecond = 1000;
        return Count == 0 ? [] : [.. _counts.Percentiles(percentileTicksPerHalfDistance: 4).Select(step =>
            new LatencyPoint(step.PercentileLevelIteratedTo, Math.Min(step.ValueIteratedTo, Max) / NanosecondsPerMicrosecond))];
    }
}

/// <summary>One point of the curve: <paramref name="Percent"/> of all took at most <paramref name="Microseconds"/>.</summary>
internal sealed record LatencyPoint(double Percent, double Microseconds);
