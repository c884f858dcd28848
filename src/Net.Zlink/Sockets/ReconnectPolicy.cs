namespace Net.Zlink.Sockets;

/// <param name="Interval">The first pause.</param>
/// <param name="MaxInterval">Above zero, the pause doubles up to it.</param>
internal sealed record ReconnectPolicy(TimeSpan Interval, TimeSpan MaxInterval)
{
    /// <summary>
    /// The pause before attempt <paramref name="attempt"/>, counted from 0: the native core's rule (docs/protocol.md section 4).
    /// </summary>
    public TimeSpan PauseBefore(int attempt)
    {
        if (MaxInterval <= TimeSpan.Zero)
        {
#pragma warning disable CA5394
            return Interval + (Interval * Random.Shared.NextDouble());
#pragma warning restore CA5394
        }

        TimeSpan pause = Interval;
        for (int i = 0; i < attempt && pause < MaxInterval; i++)
        {
            pause *= 2;
        }

        return pause < MaxInterval ? pause : MaxInterval;
    }
}
