namespace Net.Zlink.Scenarios.Attacks;

/// <summary>The heartbeats that docs/patterns.md recommends: a timeout of three intervals.</summary>
internal static class Heartbeats
{
    private const int IntervalsPerTimeout = 3;

    public static TimeSpan TimeoutOf(TimeSpan interval) => interval * IntervalsPerTimeout;
}
