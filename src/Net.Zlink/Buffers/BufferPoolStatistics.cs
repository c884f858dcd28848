namespace Net.Zlink.Buffers;

/// <summary>A snapshot of a <see cref="BufferPool"/>, from <see cref="BufferPool.GetStatistics"/>. Immutable.</summary>
public sealed class BufferPoolStatistics
{
    internal BufferPoolStatistics(IReadOnlyList<BufferClassStatistics> classes, OversizeStatistics oversize)
    {
        Classes = classes;
        Oversize = oversize;
        Rented = oversize.Rented;
        Returned = oversize.Returned;
        Allocated = oversize.Rented;
        Rejected = oversize.Returned;
        BytesRented = oversize.BytesRented;
        foreach (BufferClassStatistics one in classes)
        {
            Rented += one.Rented;
            Returned += one.Returned;
            Allocated += one.Allocated;
            Rejected += one.Rejected;
            Trimmed += one.Trimmed;
            Kept += one.Kept;
            BytesRented += one.Live * one.Size;
            BytesKept += (long)one.Kept * one.Size;
        }
    }

    /// <summary>One entry per size class, smallest first.</summary>
    public IReadOnlyList<BufferClassStatistics> Classes { get; }

    /// <summary>Requests above the largest class, allocated exactly and never retained. Included in the totals.</summary>
    public OversizeStatistics Oversize { get; }

    /// <summary>Buffers rented since the pool's creation.</summary>
    public long Rented { get; }

    /// <summary>Buffers returned since the pool's creation.</summary>
    public long Returned { get; }

    /// <summary>Buffers created, warm ones included.</summary>
    public long Allocated { get; }

    /// <summary>Returned buffers that were not retained.</summary>
    public long Rejected { get; }

    /// <summary>Retained buffers dropped because they were unused.</summary>
    public long Trimmed { get; }

    /// <summary>Buffers in use now.</summary>
    public long Live => Rented - Returned;

    /// <summary>Buffers ready now.</summary>
    public long Kept { get; }

    /// <summary>Bytes of the buffers in use now.</summary>
    public long BytesRented { get; }

    /// <summary>Bytes of the buffers ready now.</summary>
    public long BytesKept { get; }
}

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

    /// <summary>Buffers ready now.</summary>
    public int Kept { get; internal init; }

    /// <summary>Buffers in use now.</summary>
    public long Live => Rented - Returned;
}

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

internal sealed class OversizeCounter
{
    private long _rented;
    private long _returned;
    private long _bytesOut;

    internal byte[] Rent(int length)
    {
        byte[] array = PinnedArray.Allocate(length);
        Interlocked.Increment(ref _rented);
        Interlocked.Add(ref _bytesOut, length);
        return array;
    }

    internal void Return(int length)
    {
        Interlocked.Add(ref _bytesOut, -length);
        Interlocked.Increment(ref _returned);
    }

    // Returned first: a concurrent return must not make Live negative.
    internal OversizeStatistics Snapshot()
    {
        long returned = Interlocked.Read(ref _returned);
        return new OversizeStatistics
        {
            Rented = Interlocked.Read(ref _rented),
            Returned = returned,
            BytesRented = Interlocked.Read(ref _bytesOut),
        };
    }
}
