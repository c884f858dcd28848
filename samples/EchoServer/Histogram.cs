using System.Numerics;

namespace EchoServer;

/// <summary>
/// Counts durations in buckets that grow with the value, so that 50 ns and 5 s fit in one small array with the same relative error.
/// Any thread may record at any time; recording is one interlocked increment and allocates nothing.
/// </summary>
/// <remarks>
/// Each power of two is cut into 32 equal buckets, so a percentile is at most 1/32 = 3 % off. 1,024 counters are 8 KB and reach 2^36 ns,
/// which is 68 s; longer durations are counted in the last bucket.
/// </remarks>
internal sealed class Histogram
{
    public const int BucketCount = 1024;

    private const int SubBucketBits = 5;
    private const int SubBuckets = 1 << SubBucketBits;

    private readonly long[] _counts = new long[BucketCount];

    public void Record(TimeSpan duration) => Record((long)duration.TotalNanoseconds);

    public void Record(long nanoseconds) => Interlocked.Increment(ref _counts[BucketOf(nanoseconds)]);

    /// <summary>Copies the counters as they are now; <paramref name="counts"/> must have <see cref="BucketCount"/> places.</summary>
    public void CopyTo(Span<long> counts) => _counts.CopyTo(counts);

    /// <summary>
    /// The smallest duration that <paramref name="percent"/> percent of the counted ones do not exceed, in nanoseconds;
    /// -1 if nothing was counted.
    /// </summary>
    public static long Percentile(ReadOnlySpan<long> counts, double percent)
    {
        long total = 0;
        foreach (long count in counts)
        {
            total += count;
        }

        if (total == 0)
        {
            return -1;
        }

        long wanted = Math.Max(1, (long)Math.Ceiling(total * percent / 100));
        long seen = 0;
        int bucket = -1;
        while (seen < wanted)
        {
            seen += counts[++bucket];
        }

        return UpperBoundOf(bucket);
    }

    /// <summary>
    /// Values below 32 have a bucket each; above, the five bits after the leading one choose the bucket within its power of two.
    /// </summary>
    internal static int BucketOf(long nanoseconds)
    {
        if (nanoseconds < SubBuckets)
        {
            return (int)Math.Max(0, nanoseconds);
        }

        int shift = BitOperations.Log2((ulong)nanoseconds) - SubBucketBits;
        int bucket = (shift * SubBuckets) + (int)(nanoseconds >> shift);
        return Math.Min(bucket, BucketCount - 1);
    }

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
}
