namespace Net.Zlink.Engine;

/// <summary>One thread at a time; never copy it.</summary>
internal struct FairLimitShare(FairLimit? all)
{
    private long _counted;

    public bool TryReserve(long bytes)
    {
        long now = bytes < FairLimit.FreeAllowance ? 0 : bytes;
        return now == _counted || all is null || TryChange(now);
    }

    public readonly string Words(string what, string option) => all!.Words($"the peer has sent {_counted} bytes of {what}", option);

    private bool TryChange(long now)
    {
        long before = _counted;
        _counted = now;
        return all!.TryChange(before, now);
    }
}
