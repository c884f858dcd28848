namespace Net.Zlink.Engine;

/// <summary>
/// A context's limit for bytes that cannot be paused: unfinished messages (no queue holds them) and topics. Past the limit, a connection
/// that grows beyond its equal part is closed.
/// </summary>
internal sealed class FairLimit(long limit)
{
    /// <summary>Not counted per connection: more than a read of short messages leaves over, and some twenty topics.</summary>
    public const int FreeAllowance = 16 * 1024;

    private long _bytes;
    private long _holders;

    public long Limit => limit;

    public long Bytes => Volatile.Read(ref _bytes);

    public static FairLimit? Of(long limit) => limit == 0 ? null : new FairLimit(limit);

    public string Words(string peers, string option) =>
        $"{peers}; all peers of the context together use {Bytes} of {Limit} bytes: raise {option} to allow more";

    /// <summary>False: the connection holds too much and must end.</summary>
    public bool TryChange(long before, long now)
    {
        long holders = before == 0 ? Interlocked.Increment(ref _holders)
            : now == 0 ? Interlocked.Decrement(ref _holders)
            : Volatile.Read(ref _holders);
        long bytes = Interlocked.Add(ref _bytes, now - before);
        return now < before || bytes <= limit || (bytes <= 2 * limit && now <= limit / holders);
    }
}

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
