namespace Net.Zlink.Buffers;

/// <summary>
/// One size class of a <see cref="BufferPool"/>: its policy, what it keeps for all threads, and the counters of the rare events.
/// Thread-safe.
/// </summary>
internal sealed class BufferClass
{
    // One thread may hold 256 KiB of a class, so 5.7 MB if it uses every class, but no more than 32 buffers: from there on a batch of 16
    // has made the shared store's cost per operation (about 30 ns / 16) smaller than the rest of the path. Room for less than two is no
    // room: with 64 buffers out, a cache of one was measured at 97 ns a pair, straight to the store at 65 ns.
    private const int ThreadCacheBytes = 262_144;
    private const int ThreadCacheCount = 32;

    private long _allocated;
    private long _rejected;
    private long _trimmed;

    internal BufferClass(int size, BufferClassPolicy policy)
    {
        Size = size;
        Policy = policy;
        Store = new SharedStore<byte[]>(policy.KeepLimit);

        // A quarter of the limit, so that a few threads can't take it all.
        int capacity = Math.Min(Math.Min(ThreadCacheCount, ThreadCacheBytes / size), policy.KeepLimit / 4);
        ThreadCapacity = capacity < 2 ? 0 : capacity;
    }

    internal int Size { get; }

    internal BufferClassPolicy Policy { get; }

    internal SharedStore<byte[]> Store { get; }

    /// <summary>How many buffers one thread's cache may hold; 0: the threads go straight to the store.</summary>
    internal int ThreadCapacity { get; }

    internal long Allocated => Interlocked.Read(ref _allocated);

    internal long Rejected => Interlocked.Read(ref _rejected);

    internal long Trimmed => Interlocked.Read(ref _trimmed);

    /// <summary>When the current idle period began. Touched by the trimmer only.</summary>
    internal long PeriodStart { get; set; }

    internal byte[] Allocate()
    {
        byte[] array = PinnedArray.Allocate(Size);
        Interlocked.Increment(ref _allocated);
        return array;
    }

    /// <summary>Creates the warm buffers, spread over the stripes.</summary>
    internal void Warm()
    {
        for (int index = 0; index < Policy.WarmCount; index++)
        {
            var warmed = new Slot<byte[]> { Item = PinnedArray.AllocateTouched(Size) };
            Store.Push(index, new ReadOnlySpan<Slot<byte[]>>(in warmed));
        }

        Interlocked.Add(ref _allocated, Policy.WarmCount);
    }

    internal void CountRejected() => Interlocked.Increment(ref _rejected);

    /// <summary>
    /// Drops kept buffers down to the warm count: those in the caches of idle threads first, which no other thread can use, then the
    /// store's. With <paramref name="onlyUnused"/> only what nobody needed since the last call. One caller at a time.
    /// </summary>
    internal void Trim(int classIndex, ReadOnlySpan<ThreadCache> caches, bool onlyUnused)
    {
        int kept = Store.Count;
        foreach (ThreadCache cache in caches)
        {
            kept += cache.CountKept(classIndex);
        }

        int excess = Math.Max(0, kept - Policy.WarmCount);
        int dropped = 0;
        foreach (ThreadCache cache in caches)
        {
            dropped += cache.Trim(classIndex, this, excess - dropped, onlyUnused);
        }

        dropped += Store.Trim(excess - dropped, onlyUnused);
        Interlocked.Add(ref _trimmed, dropped);
    }
}
