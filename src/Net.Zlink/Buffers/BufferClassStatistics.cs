namespace Net.Zlink.Buffers;

/// <summary>
/// A momentary view of one size class. Counts run from the pool's creation; threads keep renting while it is taken, so the figures may
/// differ by what happened meanwhile.
/// </summary>
/// <param name="Size">Bytes per buffer.</param>
/// <param name="Rented">Buffers handed out.</param>
/// <param name="Returned">Buffers given back.</param>
/// <param name="Allocated">Buffers created, the warmed ones included. Stands still in steady state.</param>
/// <param name="Rejected">Returned buffers that were left to the garbage collector because the keep limit was reached, or the pool
/// disposed.</param>
/// <param name="Trimmed">Kept buffers that were let go because nobody needed them.</param>
/// <param name="Kept">Buffers lying ready now, in the shared store and in all thread caches.</param>
public readonly record struct BufferClassStatistics(
    int Size, long Rented, long Returned, long Allocated, long Rejected, long Trimmed, int Kept)
{
    /// <summary>Buffers that are out now.</summary>
    public long Live => Rented - Returned;
}
