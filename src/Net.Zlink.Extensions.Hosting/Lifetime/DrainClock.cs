namespace Net.Zlink.Extensions.Hosting;

/// <summary>How much of the host's shutdown timeout is left.</summary>
internal sealed class DrainClock(TimeProvider clock, TimeSpan hostTimeout)
{
    // What the host and the container still have to do behind us, in hundredths.
    private const int Reserved = 5;

    private readonly long _started = clock.GetTimestamp();

    public TimeProvider Clock => clock;

    /// <summary>Never negative; infinite where the host waits for ever.</summary>
    public TimeSpan Left
    {
        get
        {
            if (hostTimeout == Timeout.InfiniteTimeSpan)
            {
                return hostTimeout;
            }

            TimeSpan left = (hostTimeout * (100 - Reserved) / 100) - clock.GetElapsedTime(_started);
            return left > TimeSpan.Zero ? left : TimeSpan.Zero;
        }
    }

    /// <summary>For finishing work that is there. The other half is for the application's services and for delivering.</summary>
    public TimeSpan Half => Left == Timeout.InfiniteTimeSpan ? Left : Left / 2;
}
