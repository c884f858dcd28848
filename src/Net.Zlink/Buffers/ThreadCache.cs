using System.Runtime.CompilerServices;
using Net.Zlink.Flow;

namespace Net.Zlink.Buffers;

/// <summary>
/// One thread's buffers of one pool, a small stack per size class, and that thread's counters.
/// </summary>
/// <remarks>
/// <para>Only the owning thread pushes, pops and counts, without any interlocked operation. Other threads do two things, and both only
/// ever drop a buffer to the collector, never take one to hand it out, so a buffer cannot reach two holders: they clear single slots, and
/// they replace a class's array by an empty one, after which what the owner was just doing happens to an array that nobody sees any more.
/// The owner therefore copes with empty slots below its count and with a count above the array's length.</para>
/// <para>The array of a class is replaced only under the gate. Its length is room reserved in the store, which is how the keep limit
/// counts it.</para>
/// <para>It must not refer to the pool, or a pool could not be collected while any thread that used it lives.</para>
/// </remarks>
internal sealed class ThreadCache
{
    /// <summary>The cache that this thread used last: right nearly always, since most processes have one busy pool.</summary>
    [ThreadStatic]
    internal static ThreadCache? Current;

    /// <summary>Stands for the pool: caches are recognised by this object's identity.</summary>
    internal readonly object Key;

    private readonly Lock _gate = new();
    private readonly Entry[] _entries = new Entry[SizeClasses.Count];
    private readonly int _homeStripe;
    private bool _closed;

    internal ThreadCache(object key, WeakReference<BufferPool> pool, int homeStripe)
    {
        Key = key;
        Pool = pool;
        _homeStripe = homeStripe;
        foreach (ref Entry entry in _entries.AsSpan())
        {
            entry.Items = [];
        }
    }

    internal WeakReference<BufferPool> Pool { get; }

    internal bool IsClosed => Volatile.Read(ref _closed);

    /// <summary>Pops the most recently returned buffer and counts a rent, or returns null: then <see cref="Refill"/>.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal byte[]? TryPop(int classIndex)
    {
        ref Entry entry = ref _entries[classIndex];
        Slot<byte[]>[] items = entry.Items;
        int top = entry.Count - 1;
        if ((uint)top < (uint)items.Length)
        {
            byte[]? array = items[top].Item;
            if (array is not null)
            {
                items[top].Item = null;
                entry.Count = top;
                entry.Rented++;
                return array;
            }
        }

        return null;
    }

    /// <summary>Pushes a returned buffer and counts the return, or returns false: then <see cref="Spill"/>.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal bool TryPush(int classIndex, byte[] array)
    {
        ref Entry entry = ref _entries[classIndex];
        Slot<byte[]>[] items = entry.Items;
        int count = entry.Count;
        if ((uint)count < (uint)items.Length)
        {
            items[count].Item = array;
            entry.Count = count + 1;
            entry.Returned++;
            return true;
        }

        return false;
    }

    /// <summary>
    /// After a failed <see cref="TryPop"/>: takes half a cache of buffers from the store in one go, keeps all but one and returns that
    /// one. Null: the store is empty. Does not count.
    /// </summary>
    internal byte[]? Refill(int classIndex, BufferClass bufferClass)
    {
        if (bufferClass.ThreadCapacity > 0)
        {
            using (_gate.EnterScope())
            {
                ref Entry entry = ref _entries[classIndex];
                Compact(ref entry);
                if (entry.Count == 0)
                {
                    Grow(ref entry, bufferClass);
                }

                if (entry.Count == 0 && entry.Items.Length > 0)
                {
                    entry.Count = bufferClass.Store.Pop(_homeStripe, entry.Items.AsSpan(0, (entry.Items.Length + 1) / 2));
                }

                if (entry.Count > 0)
                {
                    entry.Count--;
                    byte[]? array = entry.Items[entry.Count].Item;
                    entry.Items[entry.Count].Item = null;
                    return array;
                }
            }
        }

        Slot<byte[]> single = default;
        bufferClass.Store.Pop(_homeStripe, new Span<Slot<byte[]>>(ref single));
        return single.Item;
    }

    /// <summary>
    /// After a failed <see cref="TryPush"/>: moves the older half of the cache to the store in one go, then pushes. False: nobody has
    /// room for the buffer. Does not count.
    /// </summary>
    internal bool Spill(int classIndex, BufferClass bufferClass, byte[] array)
    {
        if (bufferClass.ThreadCapacity > 0)
        {
            using (_gate.EnterScope())
            {
                ref Entry entry = ref _entries[classIndex];
                Compact(ref entry);
                if (entry.Count == entry.Items.Length)
                {
                    Grow(ref entry, bufferClass);
                }

                if (entry.Count == entry.Items.Length && entry.Count > 0)
                {
                    int moved = bufferClass.Store.Push(_homeStripe, entry.Items.AsSpan(0, (entry.Count + 1) / 2));
                    Span<Slot<byte[]>> items = entry.Items;
                    items[moved..].CopyTo(items);
                    items[(items.Length - moved)..].Clear();
                    entry.Count -= moved;
                }

                if (entry.Count < entry.Items.Length)
                {
                    entry.Items[entry.Count].Item = array;
                    entry.Count++;
                    return true;
                }
            }
        }

        var single = new Slot<byte[]> { Item = array };
        return bufferClass.Store.Push(_homeStripe, new ReadOnlySpan<Slot<byte[]>>(in single)) == 1;
    }

    /// <summary>Counts a rent that did not come from <see cref="TryPop"/>. Owning thread only.</summary>
    internal void CountRented(int classIndex) => _entries[classIndex].Rented++;

    /// <summary>Counts a return that did not end in <see cref="TryPush"/>. Owning thread only.</summary>
    internal void CountReturned(int classIndex) => _entries[classIndex].Returned++;

    /// <summary>Any thread: a momentary value.</summary>
    internal long RentedOf(int classIndex) => Volatile.Read(ref _entries[classIndex].Rented);

    /// <summary>Any thread: a momentary value.</summary>
    internal long ReturnedOf(int classIndex) => Volatile.Read(ref _entries[classIndex].Returned);

    /// <summary>Any thread: a momentary value.</summary>
    internal int CountKept(int classIndex)
    {
        int kept = 0;
        foreach (ref Slot<byte[]> slot in Volatile.Read(ref _entries[classIndex].Items).AsSpan())
        {
            kept += slot.Item is null ? 0 : 1;
        }

        return kept;
    }

    /// <summary>
    /// Any thread, one at a time: drops up to <paramref name="most"/> buffers, oldest first; with <paramref name="onlyUnused"/> none
    /// if the owner used the class since the last call. Gives the room back once nothing is left. Returns how many were dropped.
    /// </summary>
    internal int Trim(int classIndex, BufferClass bufferClass, int most, bool onlyUnused)
    {
        using (_gate.EnterScope())
        {
            ref Entry entry = ref _entries[classIndex];
            long uses = Volatile.Read(ref entry.Rented) + Volatile.Read(ref entry.Returned);
            bool used = uses != entry.UsesSeen;
            entry.UsesSeen = uses;
            if (onlyUnused && used)
            {
                return 0;
            }

            Slot<byte[]>[] items = entry.Items;
            int dropped = 0;
            for (int index = 0; index < items.Length && dropped < most; index++)
            {
                if (items[index].Item is not null)
                {
                    items[index].Item = null;
                    dropped++;
                }
            }

            if (items.Length > 0 && CountKept(classIndex) == 0)
            {
                entry.Items = [];
                bufferClass.Store.Unreserve(items.Length);
            }

            return dropped;
        }
    }

    /// <summary>Any thread: moves what a dead thread left to the stores. The owner must not run any more.</summary>
    internal void MoveToStores(ReadOnlySpan<BufferClass> classes)
    {
        using (_gate.EnterScope())
        {
            _closed = true;
            for (int index = 0; index < classes.Length; index++)
            {
                ref Entry entry = ref _entries[index];
                Compact(ref entry);
                Slot<byte[]>[] items = entry.Items;
                entry.Items = [];
                classes[index].Store.Unreserve(items.Length);
                int moved = classes[index].Store.Push(_homeStripe, items.AsSpan(0, entry.Count));
                for (int lost = moved; lost < entry.Count; lost++)
                {
                    classes[index].CountRejected();
                }
            }
        }
    }

    /// <summary>Any thread: drops everything; the cache holds nothing from then on, but still counts.</summary>
    internal void Close()
    {
        using (_gate.EnterScope())
        {
            _closed = true;
            foreach (ref Entry entry in _entries.AsSpan())
            {
                entry.Items = [];
            }
        }
    }

    // Closes the gaps that a trim left, and corrects the count after one that replaced the array.
    private static void Compact(ref Entry entry)
    {
        Span<Slot<byte[]>> items = entry.Items.AsSpan(0, Math.Min(entry.Count, entry.Items.Length));
        int filled = 0;
        foreach (ref Slot<byte[]> slot in items)
        {
            byte[]? array = slot.Item;
            slot.Item = null;
            if (array is not null)
            {
                items[filled++].Item = array;
            }
        }

        entry.Count = filled;
    }

    // As much more as the store grants: less than the full size while the limit is nearly used up, more on a later call.
    private void Grow(ref Entry entry, BufferClass bufferClass)
    {
        int missing = bufferClass.ThreadCapacity - entry.Items.Length;
        if (missing <= 0 || _closed)
        {
            return;
        }

        int granted = bufferClass.Store.Reserve(missing);
        if (granted > 0)
        {
            var larger = new Slot<byte[]>[entry.Items.Length + granted];
            entry.Items.AsSpan(0, entry.Count).CopyTo(larger);
            Volatile.Write(ref entry.Items, larger);
        }
    }

    private struct Entry
    {
        internal Slot<byte[]>[] Items;
        internal int Count;
        internal long Rented;
        internal long Returned;

        // Belongs to the trimmer.
        internal long UsesSeen;
    }
}
