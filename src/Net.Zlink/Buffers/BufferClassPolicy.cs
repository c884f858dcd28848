namespace Net.Zlink.Buffers;

/// <summary>
/// For one size class of a <see cref="BufferPool"/>: the buffers created in advance, the most that are retained, and when unused ones are
/// dropped.
/// </summary>
/// <param name="WarmCount">
/// Buffers created, with every page touched, when the pool is built. Idle trimming and <see cref="BufferPool.Trim"/> leave as many. 0 or
/// more, at most <paramref name="KeepLimit"/>.
/// </param>
/// <param name="KeepLimit">
/// The most buffers retained while not rented, thread caches included. 0 retains none. A buffer returned beyond the limit is left to the
/// garbage collector.
/// </param>
/// <param name="TrimAfterIdle">
/// A retained buffer that was not needed for this long is dropped, at the latest after twice this time. Above zero, or
/// <see cref="Timeout.InfiniteTimeSpan"/> for never.
/// </param>
/// <exception cref="ArgumentOutOfRangeException">A value is out of the range given above.</exception>
public sealed record BufferClassPolicy(int WarmCount, int KeepLimit, TimeSpan TrimAfterIdle)
{
    /// <summary>Buffers created when the pool is built, and never trimmed.</summary>
    public int WarmCount { get; init => field = NotNegative(value, nameof(WarmCount)); } = NotNegative(WarmCount, nameof(WarmCount));

    /// <summary>The most buffers retained while not rented, thread caches included.</summary>
    public int KeepLimit { get; init => field = NotNegative(value, nameof(KeepLimit)); } = NotNegative(KeepLimit, nameof(KeepLimit));

    /// <summary>
    /// How long a retained buffer may be unused before it is dropped; <see cref="Timeout.InfiniteTimeSpan"/> for no limit.
    /// </summary>
    public TimeSpan TrimAfterIdle
    {
        get;
        init => field = ValidSpan(value, nameof(TrimAfterIdle));
    } = ValidSpan(TrimAfterIdle, nameof(TrimAfterIdle));

    internal bool TrimsWhenIdle => TrimAfterIdle != Timeout.InfiniteTimeSpan;

    private static int NotNegative(int value, string name)
    {
        return value >= 0 ? value : throw new ArgumentOutOfRangeException(name, value, $"{name} takes 0 to {int.MaxValue}.");
    }

    private static TimeSpan ValidSpan(TimeSpan value, string name)
    {
        // The limit of System.Threading.Timer: 2^32 - 2 milliseconds, 49.7 days.
        if (value != Timeout.InfiniteTimeSpan && (value <= TimeSpan.Zero || value.TotalMilliseconds > uint.MaxValue - 1))
        {
            throw new ArgumentOutOfRangeException(
                name,
                value,
                $"{name} takes what is above TimeSpan.Zero and at most 49 days, "
                + "or Timeout.InfiniteTimeSpan to keep idle buffers for ever.");
        }

        return value;
    }
}
