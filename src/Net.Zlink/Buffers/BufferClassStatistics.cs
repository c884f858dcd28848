namespace Net.Zlink.Buffers;

/// <summary>
/// A snapshot of one size class. Counters start at the pool's creation. Other threads rent meanwhile, so figures may be slightly
/// inconsistent.
/// </summary>
/// <param name="Size">Bytes per buffer.</param>
/// <param name="Rented">Buffers rented so far.</param>
/// <param name="Returned">Buffers returned so far.</param>
/// <param name="Allocated">Buffers created so far, warm ones included. Constant in steady state.</param>
/// <param name="Rejected">Returned buffers left to the garbage collector, because the limit was reached or the pool disposed.</param>
/// <param name="Trimmed">Retained buffers dropped because they were unused.</param>
/// <param name="Kept">Buffers ready now, in the shared store and all thread caches.</param>
public readonly record struct BufferClassStatistics(
    int Size, long Rented, long Returned, long Allocated, long Rejected, long Trimmed, int Kept)
{
    /// <summary>Buffers in use now.</summary>
    public long Live => Rented - Returned;
}
