namespace Net.Zlink.Sockets.Endpoints;

/// <param name="Interval">The first pause; zero and infinite: there is none.</param>
/// <param name="MaxInterval">Above zero, the pause doubles up to it.</param>
internal sealed record ReconnectPolicy(TimeSpan Interval, TimeSpan MaxInterval)
{
    public bool IsOff => Interval == TimeSpan.Zero;

    /// <summary>The application dials again, when it decides to.</summary>
    public bool IsByApplication => Interval == Timeout.InfiniteTimeSpan;

    /// <summary>
    /// The pause before attempt <paramref name="attempt"/>, counted from 0: the native core's rule (docs/protocol.md section 3).
    /// <paramref name="jitter"/>: from 0 to 1.
    /// </summary>
    public TimeSpan PauseBefore(int attempt, double jitter)
    {
        if (IsByApplication)
        {
            return Interval;
        }

        if (MaxInterval <= TimeSpan.Zero)
        {
            return Interval + (Interval * jitter);
        }

        TimeSpan pause = Interval;
        for (int i = 0; i < attempt && pause < MaxInterval; i++)
        {
            pause *= 2;
        }

        return pause < MaxInterval ? pause : MaxInterval;
    }
}
