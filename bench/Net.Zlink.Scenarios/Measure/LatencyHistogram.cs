using System.Numerics;

namespace Net.Zlink.Scenarios.Measure;

/// <summary>
/// Counts durations in buckets whose width grows with the value, as HDR histograms do: 1 ns to 18 minutes with an error of at most 0.1 %,
/// in 248 KiB that never grow.
/// </summary>
/// <remarks>
/// One thread records (each has a histogram of its own, added up later), without a lock and without an interlocked operation; any thread
/// may read meanwhile and sees
/// counts that are at most a moment old. A closed loop leaves out what it did not send while it waited (coordinated omission):
/// docs/benchmarks/scenarios.md.
/// </remarks>
internal sealed class LatencyHistogram
{
    /// <summary>Number of buckets.</summary>
    public const int Buckets = (MaxBits - SubBucketBits + 1) * SubBuckets;

    // 1,024 buckets for each power of two: a bucket is at most 1/1024 of its value wide.
    private const int SubBucketBits = 10;
    private const int SubBuckets = 1 << SubBucketBits;

    // 2^40 ns are 18 minutes: longer than any run may wait for a reply. What is longer counts in the last bucket.
    private const int MaxBits = 40;

    private readonly long[] _counts = new long[Buckets];
    private long _max;
    private long _min = long.MaxValue;
    private double _sum;

    /// <summary>How many were recorded.</summary>
    public long Count { get; private set; }

    /// <summary>The longest, exactly; 0 if there is none.</summary>
    public long Max => Volatile.Read(ref _max);

    /// <summary>The shortest, exactly; 0 if there is none.</summary>
    public long Min => Count == 0 ? 0 : Volatile.Read(ref _min);

    public double Mean => Count == 0 ? 0 : _sum / Count;

    /// <param name="nanoseconds">Below 0 counts as 0.</param>
    public void Record(long nanoseconds)
    {
        if (nanoseconds < 0)
        {
            nanoseconds = 0;
        }

        _counts[BucketOf(nanoseconds)]++;
        Count++;
        _sum += nanoseconds;
        if (nanoseconds > _max)
        {
            _max = nanoseconds;
        }

        if (nanoseconds < _min)
        {
            _min = nanoseconds;
        }
    }

    /// <summary>Adds what <paramref name="other"/> counted.</summary>
    public void Add(LatencyHistogram other)
    {
        for (int i = 0; i < Buckets; i++)
        {
            _counts[i] += Volatile.Read(ref other._counts[i]);
        }

        Count += other.Count;
        _sum += other._sum;
        _max = Math.Max(_max, other._max);
        _min = Math.Min(_min, other._min);
    }

    public void Clear()
    {
        Array.Clear(_counts);
        Count = 0;
        _sum = 0;
        _max = 0;
        _min = long.MaxValue;
    }

    /// <summary>The smallest value, up to the bucket's width, that <paramref name="percent"/> percent do not exceed, in nanoseconds; 0 if
    /// nothing was counted.</summary>
    public long Percentile(double percent) => PercentileSince([], percent);

    /// <summary>As <see cref="Percentile(double)"/>, of what was counted since <paramref name="before"/> was copied; empty: of
    /// everything.</summary>
    public long PercentileSince(ReadOnlySpan<long> before, double percent)
    {
        long total = 0;
        for (int i = 0; i < Buckets; i++)
        {
            total += CountOf(i, before);
        }

        if (total == 0)
        {
            return 0;
        }

        long wanted = Math.Clamp((long)Math.Ceiling(total * percent / 100), 1, total);
        long seen = 0;
        int bucket = -1;
        while (seen < wanted && bucket < Buckets - 1)
        {
            seen += CountOf(++bucket, before);
        }

        return bucket == Buckets - 1 ? Max : Math.Min(UpperBoundOf(bucket), Max);
    }

    /// <summary>Copies the counters; <paramref name="counts"/> has <see cref="Buckets"/> places.</summary>
    public void CopyTo(Span<long> counts) => _counts.CopyTo(counts);

    /// <summary>The curve of percentiles: each step halves the distance to 100 % in four parts, until one recorded value is left.</summary>
    public IReadOnlyList<LatencyPoint> Curve()
    {
        const int StepsPerHalf = 4;
        const double NanosecondsPerMicrosecond = 1000;
        var points = new List<LatencyPoint>();
        if (Count == 0)
        {
            return points;
        }

        double distance = 100;
        while (distance * Count >= 100)
        {
            for (int i = 0; i < StepsPerHalf; i++)
            {
                double percent = 100 - distance + (distance / 2 * i / StepsPerHalf);
                points.Add(new LatencyPoint(percent, Percentile(percent) / NanosecondsPerMicrosecond));
            }

            distance /= 2;
        }

        points.Add(new LatencyPoint(100, Max / NanosecondsPerMicrosecond));
        return points;
    }

    /// <summary>Values below 1,024 have a bucket each; above, the ten bits after the leading one choose the bucket within its power of
    /// two.</summary>
    internal static int BucketOf(long nanoseconds)
    {
        if (nanoseconds < SubBuckets)
        {
            return (int)nanoseconds;
        }

        int shift = BitOperations.Log2((ulong)nanoseconds) - SubBucketBits;
        return Math.Min((shift * SubBuckets) + (int)Math.Min(nanoseconds >> shift, (2 * SubBuckets) - 1), Buckets - 1);
    }

    /// <summary>The largest value that belongs to a bucket.</summary>
    internal static long UpperBoundOf(int bucket)
    {
        if (bucket < SubBuckets)
        {
            return bucket;
        }

        int shift = (bucket / SubBuckets) - 1;
        long mantissa = SubBuckets + (bucket % SubBuckets);
        return ((mantissa + 1) << shift) - 1;
    }

    private long CountOf(int bucket, ReadOnlySpan<long> before) =>
        Volatile.Read(ref _counts[bucket]) - (before.IsEmpty ? 0 : before[bucket]);
}

/// <summary>One point of the curve: <paramref name="Percent"/> of all took at most <paramref name="Microseconds"/>.</summary>
internal sealed record LatencyPoint(double Percent, double Microseconds);
