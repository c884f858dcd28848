namespace Net.Zlink.Buffers;

/// <summary>
/// How many buffers of one size class a <see cref="BufferPool"/> creates ahead, keeps at most, and when it lets go of those that nobody
/// used.
/// </summary>
/// <param name="WarmCount">
/// Buffers created, and every page of them touched, when the pool is built; also what idling and <see cref="BufferPool.Trim"/> leave. 0
/// or more, at most <paramref name="KeepLimit"/>.
/// </param>
/// <param name="KeepLimit">The most buffers kept while not rented, those in per-thread caches included. 0 keeps none; a return beyond it
/// leaves the buffer to the garbage collector.</param>
/// <param name="TrimAfterIdle">
/// A kept buffer that was not needed for this long is let go: at the earliest after one such span, at the latest after two. Above zero,
/// or <see cref="Timeout.InfiniteTimeSpan"/> for never.
/// </param>
/// <exception cref="ArgumentOutOfRangeException">A value is out of the range given above.</exception>
public sealed record BufferClassPolicy(int WarmCount, int KeepLimit, TimeSpan TrimAfterIdle)
{
    /// <summary>Buffers created when the pool is built and never trimmed away.</summary>
    public int WarmCount { get; init => field = NotNegative(value, nameof(WarmCount)); } = NotNegative(WarmCount, nameof(WarmCount));

    /// <summary>The most buffers kept while not rented, thread caches included.</summary>
    public int KeepLimit { get; init => field = NotNegative(value, nameof(KeepLimit)); } = NotNegative(KeepLimit, nameof(KeepLimit));

    /// <summary>How long a kept buffer may go unused before it is let go; <see cref="Timeout.InfiniteTimeSpan"/> for ever.</summary>
    public TimeSpan TrimAfterIdle { get; init => field = ValidSpan(value, nameof(TrimAfterIdle)); } = ValidSpan(TrimAfterIdle, nameof(TrimAfterIdle));

    /// <summary>True if the timer looks after this class.</summary>
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
                $"{name} takes what is above TimeSpan.Zero and at most 49 days, or Timeout.InfiniteTimeSpan to keep idle buffers for ever.");
        }

        return value;
    }
}
