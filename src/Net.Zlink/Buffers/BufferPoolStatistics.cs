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
