namespace Net.Zlink.Engine;

/// <summary>
/// Consecutive one-part messages of an <see cref="InboundLease.Open"/> lease that share a state word, so that one step checks, forwards or
/// releases all.
/// </summary>
internal readonly record struct InboundRun(InboundLease Lease, int Slot, int Count, int Generation)
{
    public bool IsLive => Lease.AreLive(Slot, Count, Generation);

    public InboundRun First => this with { Count = 1 };

    public (Buffers.Slab Slab, int Offset, int Length) Frames => Lease.FramesAt(Slot, Count);

    public void Release() => Lease.Release(Slot, Count, Generation);
}
