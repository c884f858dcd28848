namespace Net.Zlink.Buffers;

/// <summary>
/// A rented buffer as a value: what <see cref="BufferPool.Lease"/> hands out where <see cref="BufferPool.Rent"/> would allocate an owner.
/// Copies are the same lease; the first Dispose of any of them ends it and returns the buffer, a further one is harmless, and a use after
/// it throws, also when the buffer and the object behind the lease serve another renter by then. Thread-safe.
/// </summary>
/// <remarks>Only a memory, span or array taken before Dispose can't be watched: do not keep one. The default value is a lease that is
/// over.</remarks>
public readonly struct BufferLease : IDisposable
{
    private readonly LeaseSlot? _slot;
    private readonly long _generation;

    internal BufferLease(LeaseSlot slot, long generation)
    {
        _slot = slot;
        _generation = generation;
    }

    /// <summary>The whole buffer, as long as its size class; undefined content until written.</summary>
    /// <exception cref="ObjectDisposedException">The lease is over.</exception>
    public Memory<byte> Memory => Array;

    /// <summary>The whole buffer, as long as its size class; undefined content until written.</summary>
    /// <exception cref="ObjectDisposedException">The lease is over.</exception>
    public Span<byte> Span => Array;

    private byte[] Array => _slot is null ? throw new ObjectDisposedException(nameof(BufferLease)) : _slot.ArrayOf(_generation);

    /// <summary>Returns the buffer to its pool. Harmless if the lease is over.</summary>
    public void Dispose() => _slot?.End(_generation);
}
