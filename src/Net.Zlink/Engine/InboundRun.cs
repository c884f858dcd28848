namespace Net.Zlink.Engine;

/// <summary>
/// Consecutive one-part messages of an <see cref="InboundLease.Open"/> lease that share a state word, so that one step checks, forwards or
/// releases all.
/// </summary>
internal readonly record struct InboundRun(InboundLease Lease, int Slot, int Count, int Generation)
{
    public bool IsLive => Lease.AreLive(Slot, Count, Generation);

    public InboundRun First => this with { Count = 1 };

    public SendStatus TryAppendTo(OutboundQueue queue, out bool schedule)
    {
        (Buffers.Slab slab, int offset, int length) = Lease.FramesAt(Slot, Count);
        return queue.TryAppendShared(slab, offset, length, Count, out schedule);
    }

    public void Release() => Lease.Release(Slot, Count, Generation);
}
