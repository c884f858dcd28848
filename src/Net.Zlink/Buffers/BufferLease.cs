namespace Net.Zlink.Buffers;

/// <summary>
/// A rented buffer as a value, from <see cref="BufferPool.Lease"/>, without the allocation of <see cref="BufferPool.Rent"/>. Thread-safe.
/// </summary>
/// <remarks>
/// Copies are the same lease. The first <see cref="Dispose"/> returns the buffer, later ones have no effect. A use afterwards throws, even
/// when the buffer serves another renter. A memory, span or array obtained before Dispose is not checked: do not retain one. The default
/// value is an ended lease.
/// </remarks>
public readonly struct BufferLease : IDisposable
{
    private readonly LeaseSlot? _slot;
    private readonly long _generation;

    internal BufferLease(LeaseSlot slot, long generation)
    {
        _slot = slot;
        _generation = generation;
    }

    /// <summary>The whole buffer, as long as its size class. Its content is undefined until written.</summary>
    /// <exception cref="ObjectDisposedException">The lease has ended.</exception>
    public Memory<byte> Memory => Array;

    /// <summary>The whole buffer, as long as its size class. Its content is undefined until written.</summary>
    /// <exception cref="ObjectDisposedException">The lease has ended.</exception>
    public Span<byte> Span => Array;

    private byte[] Array => _slot is null ? throw new ObjectDisposedException(nameof(BufferLease)) : _slot.ArrayOf(_generation);

    /// <summary>Returns the buffer to its pool. No effect if the lease has ended.</summary>
    public void Dispose() => _slot?.End(_generation);
}
