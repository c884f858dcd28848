namespace Net.Zlink.Buffers;

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
