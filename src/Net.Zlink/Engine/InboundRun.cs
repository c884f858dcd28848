namespace Net.Zlink.Engine;

/// <summary>Consecutive received messages of one part that share a word of state: what can be looked at, passed on and ended in one step.</summary>
/// <param name="Lease">Holds them; made by <see cref="InboundLease.Open"/>.</param>
/// <param name="Slot">The first one's.</param>
/// <param name="Count">How many, at most <see cref="InboundLease.GroupSize"/>.</param>
/// <param name="Generation">Theirs.</param>
internal readonly record struct InboundRun(InboundLease Lease, int Slot, int Count, int Generation)
{
    /// <summary>None of them has ended.</summary>
    public bool IsLive => Lease.AreLive(Slot, Count, Generation);

    /// <summary>The first one alone.</summary>
    public InboundRun First => this with { Count = 1 };

    /// <summary>Appends them to a queue as they came. All or none.</summary>
    public SendStatus TryAppendTo(OutboundQueue queue, out bool schedule)
    {
        (Buffers.Slab slab, int offset, int length) = Lease.FramesOf(Slot, Count);
        return queue.TryAppendShared(slab, offset, length, Count, out schedule);
    }

    /// <summary>Ends them.</summary>
    public void Release() => Lease.Release(Slot, Count, Generation);
}
