using Net.Zlink.Scenarios.Results;

namespace Net.Zlink.Scenarios.Load;

/// <summary>Where a load is.</summary>
internal enum LoadPhase
{
    Connect,
    Warmup,
    Measure,
    Drain,
    Done,
}

/// <summary>How a load goes: once a second, and at once when a phase begins.</summary>
/// <param name="Phase">The phase that it is in.</param>
/// <param name="IsPhaseStart">Whether this is said because the phase begins now.</param>
/// <param name="Connections">Made and not lost.</param>
/// <param name="MessagesPerSecond">Replies since the last one.</param>
/// <param name="P99Microseconds">Of what was timed since the last one; 0 outside the measured window.</param>
/// <param name="Violations">Gating violations so far.</param>
/// <param name="Lost">Connections lost so far.</param>
/// <param name="Process">What the client process uses.</param>
internal sealed record LoadProgress(
    LoadPhase Phase, bool IsPhaseStart, long Connections, double MessagesPerSecond, double P99Microseconds, long Violations, long Lost,
        ProcessSample Process);
