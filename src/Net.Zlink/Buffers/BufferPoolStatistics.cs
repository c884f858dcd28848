namespace Net.Zlink.Buffers;

/// <summary>A momentary view of a <see cref="BufferPool"/>, made by <see cref="BufferPool.GetStatistics"/>. Immutable.</summary>
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

    /// <summary>The requests beyond the largest class, which are allocated exactly and never kept. Part of the totals.</summary>
    public OversizeStatistics Oversize { get; }

    /// <summary>Buffers handed out since the pool was created.</summary>
    public long Rented { get; }

    /// <summary>Buffers given back.</summary>
    public long Returned { get; }

    /// <summary>Buffers created, the warmed ones included.</summary>
    public long Allocated { get; }

    /// <summary>Returned buffers that were not kept.</summary>
    public long Rejected { get; }

    /// <summary>Kept buffers that were let go because nobody needed them.</summary>
    public long Trimmed { get; }

    /// <summary>Buffers that are out now.</summary>
    public long Live => Rented - Returned;

    /// <summary>Buffers lying ready now.</summary>
    public long Kept { get; }

    /// <summary>Bytes of the buffers that are out now.</summary>
    public long BytesRented { get; }

    /// <summary>Bytes of the buffers lying ready now.</summary>
    public long BytesKept { get; }
}
