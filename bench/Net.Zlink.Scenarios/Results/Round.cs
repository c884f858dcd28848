using Net.Zlink.Scenarios.Measure;

namespace Net.Zlink.Scenarios.Results;

/// <summary>One run of one stack.</summary>
internal sealed record Round
{
    public required string Stack { get; init; }

    /// <summary>From 1.</summary>
    public required int Number { get; init; }

    public required DateTimeOffset Started { get; init; }

    /// <summary>The columns of metrics.csv and of the RESULT line.</summary>
    public required ResultRow Row { get; init; }

    /// <summary>What the client saw beyond the columns.</summary>
    public required ClientDetail Client { get; init; }

    /// <summary>What the server process used; null if someone else serves.</summary>
    public ServerDetail? Server { get; init; }

    /// <summary>Processor time of other programs, as percent of the whole machine; null if it cannot be told.</summary>
    public double? OthersPercent { get; init; }

    /// <summary>Why it failed beyond what the columns say: a server that did not start or ended.</summary>
    public string? Fault { get; init; }
}

/// <summary>The client's side of a round.</summary>
internal sealed record ClientDetail
{
    /// <summary>From the first connection's start until the last is made or given up.</summary>
    public double ConnectSeconds { get; init; }

    /// <summary>The length of the measured window as it was.</summary>
    public double MeasuredSeconds { get; init; }

    public double MinMicroseconds { get; init; }

    public double MeanMicroseconds { get; init; }

    public double P999Microseconds { get; init; }

    public double MaxMicroseconds { get; init; }

    /// <summary>Replies that were timed.</summary>
    public long Timed { get; init; }

    public IReadOnlyList<LatencyPoint> LatencyCurve { get; init; } = [];

    /// <summary>What gating_violation is the sum of.</summary>
    public GatingViolations Gating { get; init; } = new();

    /// <summary>Connections that ended before the client ended them.</summary>
    public long LostConnections { get; init; }

    public double CpuSeconds { get; init; }

    /// <summary>The client's own processor time per reply, in microseconds: where it equals the time between replies, the client is the
    /// limit.</summary>
    public double CpuMicrosecondsPerMessage { get; init; }

    /// <summary>Share of the processors it may use that the client used while measuring, in percent.</summary>
    public double BusyPercent { get; init; }

    public double PeakMegabytes { get; init; }

    /// <summary>One a second.</summary>
    public IReadOnlyList<ProcessSample> Samples { get; init; } = [];
}

/// <summary>Breaches of the protocol by the server, by kind.</summary>
internal sealed record GatingViolations
{
    /// <summary>Replies to what was not sent (yet).</summary>
    public long Unrequested { get; init; }

    /// <summary>Second replies to the same message.</summary>
    public long Duplicate { get; init; }

    /// <summary>Replies that came after one to a later message.</summary>
    public long OutOfOrder { get; init; }

    /// <summary>More in flight than allowed.</summary>
    public long Overrun { get; init; }

    /// <summary>Replies with another content, length or connection number than was sent.</summary>
    public long Corrupt { get; init; }

    public long Total => Unrequested + Duplicate + OutOfOrder + Overrun + Corrupt;
}

/// <summary>The server's side of a round.</summary>
internal sealed record ServerDetail
{
    public int ProcessId { get; init; }

    /// <summary>Processor time while measuring, in seconds.</summary>
    public double CpuSeconds { get; init; }

    public double CpuMicrosecondsPerMessage { get; init; }

    public double PeakMegabytes { get; init; }

    /// <summary>Resident memory with all connections made and nothing sent, less that before, per connection; s1 only.</summary>
    public double? KilobytesPerConnection { get; init; }

    /// <summary>Processor time with all connections made and nothing sent, in percent of one processor; s1 only. The kernel counts in
    /// hundredths of a second: --measure 10 gives tenths of a percent.</summary>
    public double? IdlePercent { get; init; }

    /// <summary>Messages and connections that the server itself says it dropped or refused; null if it does not count.</summary>
    public long? Dropped { get; init; }

    /// <summary>One a second.</summary>
    public IReadOnlyList<ProcessSample> Samples { get; init; } = [];

    /// <summary>What its runtime told while measuring; null if it could not be asked.</summary>
    public RuntimeEvidence? Runtime { get; init; }
}

/// <summary>What a process used, at one moment.</summary>
/// <param name="Second">Since the round's start.</param>
/// <param name="CpuPercent">Of one processor, since the sample before.</param>
/// <param name="MemoryMegabytes">Resident.</param>
/// <param name="GcHeapMegabytes">Managed heap; 0 if not known.</param>
/// <param name="Gen0">Collections of generation 0 since the process started, those of higher generations included, as the runtime
/// counts.</param>
/// <param name="Gen1">Likewise.</param>
/// <param name="Gen2">Likewise.</param>
/// <param name="PauseMilliseconds">All pauses of the collector since the process started.</param>
/// <param name="Connections">Open now.</param>
/// <param name="Dropped">Since the process started.</param>
internal sealed record ProcessSample(
    double Second, double CpuPercent, double MemoryMegabytes, double GcHeapMegabytes, int Gen0, int Gen1, int Gen2,
        double PauseMilliseconds, long Connections, long Dropped);

/// <summary>What the runtime of a server told through its diagnostics port while measuring (System.Runtime counters over
/// EventPipe).</summary>
internal sealed record RuntimeEvidence
{
    public double Seconds { get; init; }

    public long Gen0 { get; init; }

    public long Gen1 { get; init; }

    public long Gen2 { get; init; }

    public double PauseMilliseconds { get; init; }

    public double AllocatedMegabytesPerSecond { get; init; }

    public double MostQueuedWorkItems { get; init; }

    public double MostPoolThreads { get; init; }

    public long LockContentions { get; init; }

    public long Exceptions { get; init; }

    public double MostGcHeapMegabytes { get; init; }
}
