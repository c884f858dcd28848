namespace Net.Zlink.Scenarios.Results;

/// <summary>A long run: what was sampled, and what the slopes say.</summary>
internal sealed record SoakResult
{
    public double Seconds { get; init; }

    public long Messages { get; init; }

    public long Connections { get; init; }

    /// <summary>What must not happen at all: a wrong or missing answer, a buffer that is still out at the end. The first of them, in
    /// words.</summary>
    public IReadOnlyList<string> Faults { get; init; } = [];

    public IReadOnlyList<SoakSample> Samples { get; init; } = [];

    public IReadOnlyList<SoakSlope> Slopes { get; init; } = [];
}

/// <summary>One moment of a soak.</summary>
internal sealed record SoakSample(double Second, double MemoryMegabytes, double GcHeapMegabytes, int Handles, int Threads,
    double PoolRentedMegabytes, double PoolKeptMegabytes, long Messages);

/// <summary>How a figure grew over the second half of the run, and how much it may.</summary>
internal sealed record SoakSlope(string Figure, double PerHour, double LimitPerHour, string PassFail);
