namespace Net.Zlink.Benchmarks.Common;

/// <summary>Waits for what a connection brings about in its own time.</summary>
internal static class Settling
{
    // As the native programs: both ends have then done all that a new connection makes them do.
    private static readonly TimeSpan Time = TimeSpan.FromMilliseconds(300);

    private static readonly TimeSpan Step = TimeSpan.FromMilliseconds(10);

    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(30);

    public static void Rest() => Thread.Sleep(Time);

    public static void Until<T>(T subject, Func<T, bool> isReached)
    {
        long start = TimeProvider.System.GetTimestamp();
        while (!isReached(subject))
        {
            if (TimeProvider.System.GetElapsedTime(start) > Limit)
            {
                throw new TimeoutException($"Not connected within {Limit.TotalSeconds:0} s.");
            }

            Thread.Sleep(Step);
        }
    }
}
