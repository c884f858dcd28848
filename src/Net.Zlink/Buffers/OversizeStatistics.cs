namespace Net.Zlink.Buffers;

/// <summary>
/// Requests larger than the largest size class: each was allocated exactly, and its return left it to the garbage collector.
/// </summary>
/// <param name="Rented">Buffers handed out.</param>
/// <param name="Returned">Buffers given back.</param>
/// <param name="BytesRented">Bytes of the buffers that are out now.</param>
public readonly record struct OversizeStatistics(long Rented, long Returned, long BytesRented)
{
    /// <summary>Buffers that are out now.</summary>
    public long Live => Rented - Returned;
}
