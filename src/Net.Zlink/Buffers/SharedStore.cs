namespace Net.Zlink.Buffers;

/// <summary>
/// A thread skips a stripe that another thread uses, and waits (for pointer moves) only if all are in use. Always <c>items here + capacity
/// reserved for thread caches + free capacity = limit</c>, so the limit is exact although thread caches are not locked.
/// </summary>
internal sealed class SharedStore<T>
    where T : class
{
    private const int MaxStripes = 8;

    // So far below zero that concurrent releases (at maxItems a limit) cannot bring it near zero.
    private const int ClosedCapacity = int.MinValue;
    private const int ClosedBelow = -1;

    private readonly StoreStripe<T>[] _stripes;
    private readonly int _reservable;
    private readonly RetainedBytes? _retained;
    private readonly int _itemSize;
    private int _capacity;
    private int _reserved;

    internal SharedStore(int limit, RetainedBytes? retained = null, int itemSize = 0)
    {
        (_retained, _itemSize) = (retained, itemSize);
        _capacity = limit;

        // The other half is for the store: reserved but empty capacity must not reject other threads' returns.
        _reservable = limit / 2;
        _stripes = new StoreStripe<T>[Math.Clamp(Environment.ProcessorCount, 1, MaxStripes)];
        for (int index = 0; index < _stripes.Length; index++)
        {
            _stripes[index] = new StoreStripe<T>();
        }
    }

    internal int Count
    {
        get
        {
            int count = 0;
            foreach (StoreStripe<T> stripe in _stripes)
            {
                count += stripe.Count;
            }

            return count;
        }
    }

    internal int Push(int home, ReadOnlySpan<Slot<T>> items)
    {
        int granted = ReserveCapacity(items.Length);
        if (granted == 0)
        {
            return 0;
        }

        bool pushed = false;
        for (int offset = 0; offset < _stripes.Length && !pushed; offset++)
        {
            pushed = StripeAt(home + offset).TryPush(items[..granted], wait: false);
        }

        if (!pushed)
        {
            StripeAt(home).TryPush(items[..granted], wait: true);
        }

        if (Volatile.Read(ref _capacity) < ClosedBelow)
        {
            DropAll();
        }

        return granted;
    }

    internal int Pop(int home, Span<Slot<T>> destination)
    {
        bool contended = false;
        for (int offset = 0; offset < _stripes.Length; offset++)
        {
            StoreStripe<T> stripe = StripeAt(home + offset);
            int taken = stripe.Count == 0 ? 0 : stripe.Pop(destination, wait: false);
            if (taken > 0)
            {
                ReleaseCapacity(taken);
                return taken;
            }

            contended |= taken < 0;
        }

        return contended ? PopWaiting(home, destination) : 0;
    }

    internal int Reserve(int wanted)
    {
        int reserved = Volatile.Read(ref _reserved);
        while (true)
        {
            int asked = Math.Min(wanted, _reservable - reserved);
            if (asked <= 0)
            {
                return 0;
            }

            int seen = Interlocked.CompareExchange(ref _reserved, reserved + asked, reserved);
            if (seen == reserved)
            {
                int granted = ReserveCapacity(asked, forCaches: true);
                if (granted < asked)
                {
                    Interlocked.Add(ref _reserved, granted - asked);
                }

                return granted;
            }

            reserved = seen;
        }
    }

    internal void Unreserve(int count)
    {
        if (count > 0)
        {
            Interlocked.Add(ref _reserved, -count);
            ReleaseCapacity(count);
        }
    }

    internal int Trim(int maxItems, bool onlyUnused)
    {
        int dropped = 0;
        foreach (StoreStripe<T> stripe in _stripes)
        {
            dropped += stripe.Trim(maxItems - dropped, onlyUnused);
        }

        ReleaseCapacity(dropped);
        return dropped;
    }

    internal void Close()
    {
        Interlocked.Exchange(ref _capacity, ClosedCapacity);
        DropAll();
    }

    private void DropAll()
    {
        foreach (StoreStripe<T> stripe in _stripes)
        {
            stripe.Trim(int.MaxValue, onlyUnused: false);
        }
    }

    private int PopWaiting(int home, Span<Slot<T>> destination)
    {
        for (int offset = 0; offset < _stripes.Length; offset++)
        {
            int taken = StripeAt(home + offset).Pop(destination, wait: true);
            if (taken > 0)
            {
                ReleaseCapacity(taken);
                return taken;
            }
        }

        return 0;
    }

    private int ReserveCapacity(int wanted, bool forCaches = false)
    {
        int capacity = Volatile.Read(ref _capacity);
        while (true)
        {
            int granted = Math.Min(wanted, capacity);
            if (granted <= 0)
            {
                return 0;
            }

            int seen = Interlocked.CompareExchange(ref _capacity, capacity - granted, capacity);
            if (seen == capacity)
            {
                int fitting = _retained?.Reserve(granted, _itemSize, forCaches) ?? granted;
                if (fitting < granted)
                {
                    Interlocked.Add(ref _capacity, granted - fitting);
                }

                return fitting;
            }

            capacity = seen;
        }
    }

    private void ReleaseCapacity(int count)
    {
        _retained?.Release(count, _itemSize);
        Interlocked.Add(ref _capacity, count);
    }

    private StoreStripe<T> StripeAt(int index) => _stripes[(int)((uint)index % (uint)_stripes.Length)];
}
