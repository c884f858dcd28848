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

internal sealed class LeaseSlot
{
    // About 40 bytes each.
    private const int MaxKept = 4_096;

    private static readonly ObjectCache<LeaseSlot> Cache = new(MaxKept);

    [ThreadStatic]
    private static LeaseSlot? t_cached;

    private BufferPool? _pool;
    private byte[]? _array;

    // 64 bits: at a thousand million leases a second they repeat after 580 years.
    private long _generation;

    internal static LeaseSlot Rent() => Cache.Rent(ref t_cached);

    internal long Begin(BufferPool pool, byte[] array)
    {
        _pool = pool;
        Volatile.Write(ref _array, array);
        return _generation;
    }

    internal byte[] ArrayOf(long generation)
    {
        // In this order: a generation that still matches proves that the array is this lease's.
        byte[]? array = Volatile.Read(ref _array);
        if (Volatile.Read(ref _generation) != generation || array is null)
        {
            throw new ObjectDisposedException(nameof(BufferLease), "The lease is disposed: its buffer may already be in use elsewhere.");
        }

        return array;
    }

    internal void End(long generation)
    {
        if (Interlocked.CompareExchange(ref _generation, generation + 1, generation) == generation)
        {
            byte[] array = _array!;
            BufferPool pool = _pool!;
            _array = null;
            _pool = null;
            Cache.Return(ref t_cached, this);
            pool.ReturnArray(array);
        }
    }
}
