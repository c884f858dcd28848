namespace Net.Zlink.Services;

/// <summary>
/// Decides when a registry sends its list to everybody: at once after a change, changes that follow closely together, and now and then
/// without one. No clock of its own, not thread-safe.
/// </summary>
/// <param name="minInterval">The least time between two lists.</param>
/// <param name="interval">The most.</param>
/// <param name="sequence">The number of the list that nobody need be sent: the first one.</param>
/// <param name="now">The time of the start.</param>
internal sealed class BroadcastSchedule(TimeSpan minInterval, TimeSpan interval, ulong sequence, TimeSpan now)
{
    private ulong _sent = sequence;
    private TimeSpan _last = now;
    private bool _hasSent;

    /// <summary>What is to be done now.</summary>
    /// <param name="at">The time.</param>
    /// <param name="current">The number of the present list.</param>
    /// <param name="delay">With <see cref="BroadcastNeed.Later"/>: until then.</param>
    public BroadcastNeed Next(TimeSpan at, ulong current, out TimeSpan delay)
    {
        delay = TimeSpan.Zero;
        if (current != _sent)
        {
            delay = _hasSent ? _last + minInterval - at : TimeSpan.Zero;
            return delay > TimeSpan.Zero ? BroadcastNeed.Later : BroadcastNeed.Changed;
        }

        return at - _last >= interval ? BroadcastNeed.Periodic : BroadcastNeed.None;
    }

    /// <summary>A list was sent to everybody.</summary>
    public void Sent(TimeSpan at, ulong current)
    {
        _sent = current;
        _last = at;
        _hasSent = true;
    }
}

/// <summary>Whether a list is due.</summary>
internal enum BroadcastNeed
{
    None,
    Changed,
    Periodic,
    Later,
}
