namespace Net.Zlink.Engine;

/// <summary>What one connection has a part in of a <see cref="FairLimit"/> of its context's. For one thread at a time, and never to be copied.</summary>
/// <param name="all">The context's; null: no limit.</param>
internal struct FairLimitShare(FairLimit? all)
{
    private long _counted;

    /// <summary>The connection holds so much now. False: that is too much.</summary>
    public bool TryReserve(long bytes)
    {
        long now = bytes < FairLimit.FreeAllowance ? 0 : bytes;
        return now == _counted || all is null || TryChange(now);
    }

    /// <summary>Why it was too much, and what to do about it.</summary>
    public readonly string Words(string what, string option) => all!.Words($"the peer has brought {_counted} bytes of {what}", option);

    private bool TryChange(long now)
    {
        long before = _counted;
        _counted = now;
        return all!.TryChange(before, now);
    }
}
