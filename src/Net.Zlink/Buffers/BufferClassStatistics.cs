namespace Net.Zlink.Buffers;

/// <summary>
/// A snapshot of one size class. Counters start at the pool's creation. Other threads rent meanwhile, so figures may be slightly
/// inconsistent.
/// </summary>
public readonly struct BufferClassStatistics
{
    /// <summary>Bytes per buffer.</summary>
    public int Size { get; internal init; }

    /// <summary>Buffers rented so far.</summary>
    public long Rented { get; internal init; }

    /// <summary>Buffers returned so far.</summary>
    public long Returned { get; internal init; }

    /// <summary>Buffers created so far, warm ones included. Constant in steady state.</summary>
    public long Allocated { get; internal init; }

    /// <summary>Returned buffers left to the garbage collector, because the limit was reached or the pool disposed.</summary>
    public long Rejected { get; internal init; }

    /// <summary>Retained buffers dropped because they were unused.</summary>
    public long Trimmed { get; internal init; }

    /// <summary>Buffers ready now, in the shared store and all thread caches.</summary>
    public int Kept { get; internal init; }

    /// <summary>Buffers in use now.</summary>
    public long Live => Rented - Returned;
}
