namespace Net.Zlink.Buffers;

/// <summary>
/// Counters of requests above the largest size class. Each was allocated exactly, and left to the garbage collector on return.
/// </summary>
/// <param name="Rented">Buffers rented so far.</param>
/// <param name="Returned">Buffers returned so far.</param>
/// <param name="BytesRented">Bytes of the buffers in use now.</param>
public readonly record struct OversizeStatistics(long Rented, long Returned, long BytesRented)
{
    /// <summary>Buffers in use now.</summary>
    public long Live => Rented - Returned;
}
