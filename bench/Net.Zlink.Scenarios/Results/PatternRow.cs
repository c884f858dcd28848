namespace Net.Zlink.Scenarios.Results;

/// <summary>One measurement of a pattern: one round of one side.</summary>
internal sealed record PatternRow
{
    /// <summary>net-zlink, net-zlink-batch or native.</summary>
    public required string Stack { get; init; }

    /// <summary>PAIR, PUBSUB, DEALER_ROUTER ...</summary>
    public required string Pattern { get; init; }

    public required string Transport { get; init; }

    public required int Size { get; init; }

    /// <summary>single or batch.</summary>
    public required string Api { get; init; }

    public required int Round { get; init; }

    /// <summary>Clients to the one server; 1 but for multi.</summary>
    public int Clients { get; init; } = 1;

    public long Messages { get; init; }

    public double? MessagesPerSecond { get; init; }

    /// <summary>One way: half the mean round trip.</summary>
    public double? LatencyMicroseconds { get; init; }

    /// <summary>Processor time of others, as percent of the whole machine.</summary>
    public double OthersPercent { get; init; }

    /// <summary>Why there are no figures.</summary>
    public string? Fault { get; init; }
}

/// <summary>A bar, what was measured, and what follows.</summary>
/// <param name="Case">PATTERN/TRANSPORT/SIZE.</param>
/// <param name="Bar">In words.</param>
/// <param name="Measured">In words.</param>
/// <param name="Verdict">met, within noise, missed or void.</param>
internal sealed record PatternVerdict(string Case, string Bar, string Measured, string Verdict);
