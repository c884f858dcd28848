namespace Net.Zlink.Buffers;

/// <summary>
/// The recycled half of a <see cref="BufferLease"/>: the buffer, and a generation that rises when a lease on it ends, so that a lease
/// whose generation is another one is over. Thread-safe.
/// </summary>
internal sealed class LeaseSlot
{
    private BufferPool? _pool;
    private byte[]? _array;

    // 64 bits: at a thousand million leases a second it comes round after 580 years, so a stale lease never matches again.
    private long _generation;

    /// <summary>Binds a free slot to a buffer and returns the generation of the new lease.</summary>
    internal long Begin(BufferPool pool, byte[] array)
    {
        _pool = pool;
        Volatile.Write(ref _array, array);
        return _generation;
    }

    /// <summary>The buffer of a lease.</summary>
    /// <exception cref="ObjectDisposedException">The lease is over.</exception>
    internal byte[] ArrayOf(long generation)
    {
        // In this order: a generation that still matches after the array was read proves that it is this lease's array.
        byte[]? array = Volatile.Read(ref _array);
        if (Volatile.Read(ref _generation) != generation || array is null)
        {
            throw new ObjectDisposedException(nameof(BufferLease), "The lease is disposed: its buffer may already be someone else's.");
        }

        return array;
    }

    /// <summary>Ends a lease, returns its buffer and frees the slot; does nothing if the lease is over.</summary>
    internal void End(long generation)
    {
        if (Interlocked.CompareExchange(ref _generation, generation + 1, generation) == generation)
        {
            byte[] array = _array!;
            BufferPool pool = _pool!;
            _array = null;
            _pool = null;
            LeaseSlots.Return(this);
            pool.ReturnArray(array);
        }
    }
}
