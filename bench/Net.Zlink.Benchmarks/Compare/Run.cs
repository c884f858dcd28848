namespace Net.Zlink.Benchmarks.Compare;

/// <summary>One server under one case once.</summary>
internal sealed record Run
{
    public required string Server { get; init; }

    public required int Round { get; init; }

    /// <summary>What the load generator said; null for the idle case and where it said nothing.</summary>
    public LoadResult? Load { get; init; }

    public IdleResult? Idle { get; init; }

    /// <summary>Microseconds one way: half the mean of strict round trips. Null where none were made.</summary>
    public double? Latency { get; init; }

    /// <summary>The server's processor time from its start to the end of the load, user and system.</summary>
    public double CpuSeconds { get; init; }

    /// <summary>The server's peak resident memory (VmHWM) in MiB.</summary>
    public double PeakMemory { get; init; }

    /// <summary>Processor time that neither the server nor the load generator nor this program used, of what the machine has, in
    /// percent.</summary>
    public double OthersPercent { get; init; }

    /// <summary>Why there is no figure, in a sentence.</summary>
    public string? Fault { get; init; }

    public bool IsGood => Fault is null;
}

/// <summary>A server that holds connections on which nothing happens.</summary>
/// <param name="CpuPercent">Its processor time in percent of one core.</param>
/// <param name="KiBPerConnection">Resident memory that the connections added, per connection.</param>
internal sealed record IdleResult(double CpuPercent, double KiBPerConnection);
