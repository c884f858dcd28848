using Net.Zlink.Buffers;

namespace Net.Zlink.Engine;

/// <summary>Whole frames of one connection, as they stand on the wire, in a slab. Valid during the call it is passed to, unless the slab is referenced.</summary>
/// <param name="Slab">Where the bytes are; add a reference to keep them.</param>
/// <param name="Offset">Start of the first frame.</param>
/// <param name="Length">Bytes of all frames, headers included.</param>
/// <param name="Frames">Number of frames.</param>
/// <param name="OwnsSlab">The slab holds just this batch, and the connection releases its reference after the call.</param>
internal readonly record struct InboundBatch(Slab Slab, int Offset, int Length, int Frames, bool OwnsSlab)
{
    public ReadOnlySpan<byte> Bytes => Slab.Array.AsSpan(Offset, Length);
}

/// <summary>What the receiver of a batch wants next.</summary>
internal enum Delivery
{
    /// <summary>Read on.</summary>
    Continue,

    /// <summary>Stop reading this connection until <see cref="Connection.Resume"/>: TCP then pushes back to the peer.</summary>
    Park,
}
