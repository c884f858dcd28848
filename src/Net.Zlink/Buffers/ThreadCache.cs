using System.Runtime.CompilerServices;

namespace Net.Zlink.Buffers;

/// <summary>One thread's buffers of one pool, a stack per size class, and that thread's counters.</summary>
/// <remarks>
/// <para>Only the owning thread pushes, pops and counts, without interlocked operations. Other threads only drop buffers: they clear slots,
/// or replace a class's array by an empty one. So no buffer has two holders. The owner handles empty slots below its count, and a count
/// above the array's length.</para>
/// <para>A class's array is replaced only under the lock. Its length is capacity reserved in the store.</para>
/// <para>Must not refer to the pool, or the pool could not be collected while such a thread lives.</para>
/// </remarks>
internal sealed class ThreadCache
{
    [ThreadStatic]
    internal static ThreadCache? Current;

    internal readonly object Key;

    private readonly Lock _gate = new();
    private readonly Entry[] _entries = new Entry[SizeClasses.Count];
    private bool _closed;

    internal ThreadCache(object key, WeakReference<BufferPool> pool)
    {
        Key = key;
        Pool = pool;
        foreach (ref Entry entry in _entries.AsSpan())
        {
            entry.Items = [];
        }
    }

    internal WeakReference<BufferPool> Pool { get; }

    internal bool IsClosed => Volatile.Read(ref _closed);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal byte[]? TryPop(int classIndex)
    {
        ref Entry entry = ref _entries[classIndex];
        Slot[] items = entry.Items;
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

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal bool TryPush(int classIndex, byte[] array)
    {
        ref Entry entry = ref _entries[classIndex];
        Slot[] items = entry.Items;
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

    /// <summary>Does not count.</summary>
    internal byte[]? Refill(int classIndex, BufferClass bufferClass)
    {
        if (bufferClass.ThreadCapacity > 0)
        {
            lock (_gate)
            {
                ref Entry entry = ref _entries[classIndex];
                Compact(ref entry);
                if (entry.Count == 0)
                {
                    Grow(ref entry, bufferClass);
                }

                if (entry.Count == 0 && entry.Items.Length > 0)
                {
                    entry.Count = bufferClass.Store.Pop(entry.Items.AsSpan(0, (entry.Items.Length + 1) / 2));
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

        Slot single = default;
        bufferClass.Store.Pop(new Span<Slot>(ref single));
        return single.Item;
    }

    /// <summary>Does not count.</summary>
    internal bool Spill(int classIndex, BufferClass bufferClass, byte[] array)
    {
        if (bufferClass.ThreadCapacity > 0)
        {
            lock (_gate)
            {
                ref Entry entry = ref _entries[classIndex];
                Compact(ref entry);
                if (entry.Count == entry.Items.Length)
                {
                    Grow(ref entry, bufferClass);
                }

                if (entry.Count == entry.Items.Length && entry.Count > 0)
                {
                    int moved = bufferClass.Store.Push(entry.Items.AsSpan(0, (entry.Count + 1) / 2));
                    Span<Slot> items = entry.Items;
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

        var single = new Slot { Item = array };
        return bufferClass.Store.Push(new ReadOnlySpan<Slot>(in single)) == 1;
    }

    internal void CountRented(int classIndex) => _entries[classIndex].Rented++;

    internal void CountReturned(int classIndex) => _entries[classIndex].Returned++;

    internal long RentedOf(int classIndex) => Volatile.Read(ref _entries[classIndex].Rented);

    internal long ReturnedOf(int classIndex) => Volatile.Read(ref _entries[classIndex].Returned);

    internal int CountKept(int classIndex)
    {
        int kept = 0;
        foreach (ref Slot slot in Volatile.Read(ref _entries[classIndex].Items).AsSpan())
        {
            kept += slot.Item is null ? 0 : 1;
        }

        return kept;
    }

    /// <summary>Drops buffers, oldest first; with <paramref name="onlyUnused"/> none if the class was used since the last call.</summary>
    internal int Trim(int classIndex, BufferClass bufferClass, int maxItems, bool onlyUnused)
    {
        lock (_gate)
        {
            ref Entry entry = ref _entries[classIndex];
            long uses = Volatile.Read(ref entry.Rented) + Volatile.Read(ref entry.Returned);
            bool used = uses != entry.UsesSeen;
            entry.UsesSeen = uses;
            if (onlyUnused && used)
            {
                return 0;
            }

            Slot[] items = entry.Items;
            int dropped = 0;
            for (int index = 0; index < items.Length && dropped < maxItems; index++)
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

    internal void MoveToStores(ReadOnlySpan<BufferClass> classes)
    {
        lock (_gate)
        {
            _closed = true;
            for (int index = 0; index < classes.Length; index++)
            {
                ref Entry entry = ref _entries[index];
                Compact(ref entry);
                Slot[] items = entry.Items;
                entry.Items = [];
                classes[index].Store.Unreserve(items.Length);
                int moved = classes[index].Store.Push(items.AsSpan(0, entry.Count));
                for (int lost = moved; lost < entry.Count; lost++)
                {
                    classes[index].CountRejected();
                }
            }
        }
    }

    internal void Close()
    {
        lock (_gate)
        {
            _closed = true;
            foreach (ref Entry entry in _entries.AsSpan())
            {
                entry.Items = [];
            }
        }
    }

    private static void Compact(ref Entry entry)
    {
        Span<Slot> items = entry.Items.AsSpan(0, Math.Min(entry.Count, entry.Items.Length));
        int filled = 0;
        foreach (ref Slot slot in items)
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

    // By what the store grants: less than the full size near the limit, more on a later call.
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
            var larger = new Slot[entry.Items.Length + granted];
            entry.Items.AsSpan(0, entry.Count).CopyTo(larger);
            Volatile.Write(ref entry.Items, larger);
        }
    }

    private struct Entry
    {
        internal Slot[] Items;
        internal int Count;
        internal long Rented;
        internal long Returned;

        internal long UsesSeen;
    }
}
