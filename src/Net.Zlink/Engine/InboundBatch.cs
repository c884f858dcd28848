using Net.Zlink.Buffers;

namespace Net.Zlink.Engine;

/// <summary>Whole frames of one connection, as encoded on the wire. Valid during the call, unless the slab is referenced.</summary>
/// <remarks>
/// <paramref name="OwnsSlab"/>: The slab holds only this batch, and the connection releases its reference after the call.
/// </remarks>
internal readonly record struct InboundBatch(Slab Slab, int Offset, int Length, int Frames, bool OwnsSlab)
{
    public ReadOnlySpan<byte> Bytes => Slab.Array.AsSpan(Offset, Length);
}

internal enum Delivery
{
    Continue,

    /// <summary>Pause reading until <see cref="Connection.Resume"/>: TCP then slows the peer.</summary>
    Pause,
}
