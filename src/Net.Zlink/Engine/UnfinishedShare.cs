namespace Net.Zlink.Engine;

/// <summary>What one connection has a part in of its context's <see cref="UnfinishedBytes"/>. On the connection's shard, and never to be copied.</summary>
/// <param name="all">The context's; null: no limit.</param>
internal struct UnfinishedShare(UnfinishedBytes? all)
{
    private long _counted;

    /// <summary>The connection holds so much now. False: that is too much.</summary>
    public bool TryHold(long bytes)
    {
        long now = bytes < UnfinishedBytes.Free ? 0 : bytes;
        return now == _counted || all is null || TryChange(now);
    }

    /// <summary>Why it was too much, and what to do about it.</summary>
    public readonly string Words => $"the peer has sent {_counted} bytes of messages that are not whole yet, and all peers of the context together {all!.Bytes}, of {all.Limit}: a larger UnfinishedByteLimit allows more";

    private bool TryChange(long now)
    {
        long before = _counted;
        _counted = now;
        return all!.TryChange(before, now);
    }
}
