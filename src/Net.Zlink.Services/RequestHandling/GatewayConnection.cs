namespace Net.Zlink.Services;

/// <summary>What a receiver knows of one connection: how old its requests are when they arrive. Kept as the user state of the
/// connection.</summary>
/// <remarks>
/// The clocks of two machines differ by an unknown offset, so the smallest (arrival - sent) of the connection counts as age 0. The offset
/// follows clocks that drift:
/// it grows by <see cref="DriftDivisor"/> while no sample comes near it, and where all samples of a <see cref="Window"/> are above it the
/// smallest of them takes its place.
/// </remarks>
internal sealed class GatewayConnection
{
    private const int DriftDivisor = 5000; // 200 millionths: twice what quartz clocks of two machines differ by.
    private static readonly TimeSpan Window = TimeSpan.FromSeconds(30);

    private readonly Lock _gate = new();
    private TimeSpan _offset = TimeSpan.MaxValue;
    private TimeSpan _offsetAt;
    private TimeSpan _windowSmallest = TimeSpan.MaxValue;
    private TimeSpan _windowStart;

    /// <summary>How long a request was on its way, beyond what is usual on this connection.</summary>
    /// <param name="now">By the receiver's clock, from its start on.</param>
    /// <param name="delay">Arrival less the time of sending, by two clocks.</param>
    public TimeSpan AgeOf(TimeSpan now, TimeSpan delay)
    {
        lock (_gate)
        {
            if (_windowSmallest != TimeSpan.MaxValue && now - _windowStart >= Window)
            {
                (_offset, _offsetAt) = (_windowSmallest, now);
                (_windowSmallest, _windowStart) = (TimeSpan.MaxValue, now);
            }

            if (_windowSmallest == TimeSpan.MaxValue)
            {
                _windowStart = now;
            }

            _windowSmallest = delay < _windowSmallest ? delay : _windowSmallest;
            TimeSpan usual = _offset == TimeSpan.MaxValue ? delay : _offset + ((now - _offsetAt) / DriftDivisor);
            if (delay <= usual)
            {
                (_offset, _offsetAt) = (delay, now);
                return TimeSpan.Zero;
            }

            return delay - usual;
        }
    }
}
