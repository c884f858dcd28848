namespace Net.Zlink.Services;

/// <summary>What a receiver knows of one connection. Kept as the user state of the connection.</summary>
internal sealed class GatewayConnection
{
    // How much longer than the receiver thinks a gateway may wait for a request: its clock and its timers are not the receiver's.
    private static readonly TimeSpan Margin = TimeSpan.FromSeconds(1);

    private readonly Lock _gate = new();
    private readonly ClockOffset _offset = new();
    private long _unansweredUntil = long.MinValue;

    /// <inheritdoc cref="ClockOffset.AgeOf"/>
    public TimeSpan AgeOf(TimeSpan now, TimeSpan delay)
    {
        lock (_gate)
        {
            return _offset.AgeOf(now, delay);
        }
    }

    /// <inheritdoc cref="ClockOffset.Judge"/>
    public TimeSpan Judge(TimeSpan now, TimeSpan delay)
    {
        lock (_gate)
        {
            return _offset.Judge(now, delay);
        }
    }

    /// <summary>A request may have been executed, and its gateway has no answer and may wait for one.</summary>
    /// <param name="deadline">When its time is over: a timestamp; <see cref="long.MaxValue"/>: never.</param>
    /// <param name="clock">The receiver's.</param>
    public void NoteUnanswered(long deadline, TimeProvider clock)
    {
        long until = deadline == long.MaxValue ? deadline : deadline + (long)(Margin.TotalSeconds * clock.TimestampFrequency);
        lock (_gate)
        {
            _unansweredUntil = Math.Max(_unansweredUntil, until);
        }
    }

    /// <summary>Whether the gateway may wait for a request that was executed: then the receiver must not report that none was.</summary>
    public bool MayWaitForExecuted(long now)
    {
        lock (_gate)
        {
            return now < _unansweredUntil;
        }
    }
}
