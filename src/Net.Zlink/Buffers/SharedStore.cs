namespace Net.Zlink.Buffers;

/// <summary>
/// The buffers of one size class that no thread has cached; the last returned one goes first, since it is the likeliest in a processor's
/// cache. Always <c>buffers here + capacity reserved for thread caches + free capacity = limit</c>, so the limit is exact although thread
/// caches are not locked. One lock: threads come here once in half a cache of buffers.
/// </summary>
internal sealed class SharedStore(int limit, int size, RetainedBytes retained)
{
    private readonly Lock _gate = new();
    private Slot[] _items = [];
    private int _count;
    private int _lowWater;
    private int _capacity = limit;

    // The other half is for the store: reserved but empty capacity must not reject other threads' returns.
    private int _reservable = limit / 2;
    private bool _isClosed;

    internal int Count => Volatile.Read(ref _count);

    /// <summary>Returns the number of buffers that were taken, from the first on.</summary>
    internal int Push(ReadOnlySpan<Slot> items)
    {
        lock (_gate)
        {
            int granted = Grant(items.Length, forCaches: false);
            if (_items.Length - _count < granted)
            {
                Array.Resize(ref _items, Math.Max(_count + granted, _items.Length * 2));
            }

            items[..granted].CopyTo(_items.AsSpan(_count));
            Volatile.Write(ref _count, _count + granted);
            return granted;
        }
    }

    internal int Pop(Span<Slot> destination)
    {
        if (Count == 0)
        {
            return 0;
        }

        lock (_gate)
        {
            int taken = Math.Min(_count, destination.Length);
            int left = _count - taken;
            Span<Slot> source = _items.AsSpan(left, taken);
            source.CopyTo(destination);
            source.Clear();
            Volatile.Write(ref _count, left);
            _lowWater = Math.Min(_lowWater, left);
            Release(taken);
            return taken;
        }
    }

    internal int Reserve(int wanted)
    {
        lock (_gate)
        {
            int granted = Grant(Math.Min(wanted, _reservable), forCaches: true);
            _reservable -= granted;
            return granted;
        }
    }

    internal void Unreserve(int count)
    {
        lock (_gate)
        {
            _reservable += count;
            Release(count);
        }
    }

    /// <summary><paramref name="onlyUnused"/>: at most the fewest that were here since the last call.</summary>
    internal int Trim(int maxItems, bool onlyUnused)
    {
        lock (_gate)
        {
            int dropped = Math.Min(maxItems, onlyUnused ? _lowWater : _count);
            int left = _count - dropped;
            Span<Slot> items = _items.AsSpan(0, _count);
            items[dropped..].CopyTo(items);
            items[left..].Clear();
            Volatile.Write(ref _count, left);
            _lowWater = left;
            if (left == 0)
            {
                _items = [];
            }

            Release(dropped);
            return dropped;
        }
    }

    internal void Close()
    {
        lock (_gate)
        {
            _isClosed = true;
            _items = [];
            Volatile.Write(ref _count, 0);
        }
    }

    private int Grant(int wanted, bool forCaches)
    {
        int granted = _isClosed ? 0 : retained.Reserve(Math.Min(wanted, _capacity), size, forCaches);
        _capacity -= granted;
        return granted;
    }

    private void Release(int count)
    {
        retained.Release(count, size);
        _capacity += count;
    }
}

/// <summary>
/// An array element with a buffer. A store into an array of arrays checks the array's real type (covariance); a store into this struct's
/// array does not.
/// </summary>
internal struct Slot
{
    internal byte[]? Item;
}

internal sealed class RetainedBytes(long limit)
{
    private readonly long _half = limit / 2;
    private long _free = limit;

    internal int Reserve(int wanted, int size, bool forCaches)
    {
        long free = Volatile.Read(ref _free);
        while (true)
        {
            // A division takes 10 ns, so only near the limit.
            long usable = forCaches ? free - _half : free;
            int granted = (long)wanted * size <= usable ? wanted : (int)(usable / size);
            if (granted <= 0)
            {
                return 0;
            }

            long seen = Interlocked.CompareExchange(ref _free, free - ((long)granted * size), free);
            if (seen == free)
            {
                return granted;
            }

            free = seen;
        }
    }

    internal void Release(int count, int size) => Interlocked.Add(ref _free, (long)count * size);
}
