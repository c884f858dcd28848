namespace Net.Zlink.Buffers;

/// <summary>One size class of a <see cref="BufferPool"/>: its policy, the shared buffers, and rare counters. Thread-safe.</summary>
internal sealed class BufferClass
{
    // Per thread 256 KiB of a class (5.7 MB over all classes), and at most 32 buffers: batches of 16 make the shared store's cost (30 ns /
    // 16) small. A cache of one is worse than none: with 64 buffers in use it took 97 ns a pair, against 65 ns from the store.
    private const int ThreadCacheBytes = 262_144;
    private const int ThreadCacheCount = 32;

    private long _allocated;
    private long _rejected;
    private long _trimmed;

    internal BufferClass(int size, BufferClassPolicy policy, RetainedBytes retained)
    {
        Size = size;
        Policy = policy;
        Store = new SharedStore(policy.KeepLimit, size, retained);

        int capacity = Math.Min(Math.Min(ThreadCacheCount, ThreadCacheBytes / size), policy.KeepLimit / 4);
        ThreadCapacity = capacity < 2 ? 0 : capacity;
    }

    internal int Size { get; }

    internal BufferClassPolicy Policy { get; }

    internal SharedStore Store { get; }

    internal int ThreadCapacity { get; }

    internal long Allocated => Interlocked.Read(ref _allocated);

    internal long Rejected => Interlocked.Read(ref _rejected);

    internal long Trimmed => Interlocked.Read(ref _trimmed);

    internal long PeriodStart { get; set; }

    internal byte[] Allocate()
    {
        byte[] array = PinnedArray.Allocate(Size);
        Interlocked.Increment(ref _allocated);
        return array;
    }

    internal void Warm()
    {
        for (int index = 0; index < Policy.WarmCount; index++)
        {
            var warmed = new Slot { Item = PinnedArray.AllocateTouched(Size) };
            Store.Push(new ReadOnlySpan<Slot>(in warmed));
        }

        Interlocked.Add(ref _allocated, Policy.WarmCount);
    }

    internal void CountRejected() => Interlocked.Increment(ref _rejected);

    /// <summary>
    /// Drops buffers down to the warm count: those of idle threads first, since no other thread can use them.
    /// <paramref name="onlyUnused"/>: only those unused since the last call.
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

internal static class PinnedArray
{
    internal static byte[] Allocate(int length) => GC.AllocateUninitializedArray<byte>(length, pinned: true);

    /// <summary>Touches each page, so that page faults happen now and not under load.</summary>
    internal static byte[] AllocateTouched(int length)
    {
        byte[] array = Allocate(length);
        for (int offset = 0; offset < length; offset += Environment.SystemPageSize)
        {
            array[offset] = 0;
        }

        array[length - 1] = 0;
        return array;
    }
}
