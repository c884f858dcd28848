using Net.Zlink.Buffers;

namespace Net.Zlink.Engine;

/// <summary>
/// Valid during the call, unless the slab is referenced. <paramref name="OwnsSlab"/>: The slab holds only this batch, and the connection
/// releases its reference after the call.
/// </summary>
internal readonly record struct InboundBatch(Slab Slab, int Offset, int Length, int Frames, bool OwnsSlab)
{
    public ReadOnlySpan<byte> Bytes => Slab.Array.AsSpan(Offset, Length);
}

internal enum Delivery
{
    Continue,

    Pause,
}
