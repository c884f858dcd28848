namespace Net.Zlink.Buffers;

/// <summary>
/// Counters of requests above the largest size class. Each was allocated exactly, and left to the garbage collector on return.
/// </summary>
public readonly struct OversizeStatistics
{
    /// <summary>Buffers rented so far.</summary>
    public long Rented { get; internal init; }

    /// <summary>Buffers returned so far.</summary>
    public long Returned { get; internal init; }

    /// <summary>Bytes of the buffers in use now.</summary>
    public long BytesRented { get; internal init; }

    /// <summary>Buffers in use now.</summary>
    public long Live => Rented - Returned;
}
