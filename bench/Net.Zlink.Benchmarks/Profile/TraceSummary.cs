namespace Net.Zlink.Benchmarks.Profile;

/// <summary>What a trace says, counted.</summary>
internal sealed class TraceSummary
{
    public FrameTable Running { get; } = new();

    public long WaitingSamples { get; set; }

    /// <summary>Lock contention by the place where it happened; weights are milliseconds waited.</summary>
    public FrameTable Contended { get; } = new();

    public FrameTable Allocated { get; } = new();

    public Dictionary<string, long> AllocatedTypes { get; } = new(StringComparer.Ordinal);

    public FrameTable Callers { get; } = new();

    public FrameTable Callees { get; } = new();

    public string? Sought { get; set; }

    public int[] Collections { get; } = new int[3];

    public double PauseMilliseconds { get; set; }

    public double LongestPauseMilliseconds { get; set; }

    public long Contentions { get; set; }

    public double ContentionMilliseconds { get; set; }

    public Dictionary<string, long> Exceptions { get; } = new(StringComparer.Ordinal);

    public int MostPoolThreads { get; set; }

    public Dictionary<string, long> PoolAdjustments { get; } = new(StringComparer.Ordinal);

    public long LostEvents { get; set; }
}
