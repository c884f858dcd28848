namespace Net.Zlink.Buffers;

/// <summary>
/// What the threads of a process share for one size class: stripes of kept items, and the books of the keep limit. Thread-safe.
/// A thread has a home stripe and passes over one that another thread is inside of; it waits (for pointer moves) only when it found every
/// stripe taken. At any time <c>items here + room reserved for thread caches + free room = limit</c>, so the limit holds exactly although
/// thread caches are not locked.
/// </summary>
internal sealed class SharedStore<T>
    where T : class
{
    // More stripes than threads that really run at once only scatter the items; past 8 the batches keep the locks cold enough.
    private const int MaxStripes = 8;

    // The room of a closed store lies so far below zero that what concurrent calls still give back (at most a keep limit) cannot bring it
    // near zero.
    private const int ClosedCapacity = int.MinValue;
    private const int ClosedBelow = -1;

    private readonly StoreStripe<T>[] _stripes;
    private readonly int _reservable;
    private int _capacity;
    private int _reserved;

    internal SharedStore(int limit)
    {
        _capacity = limit;

        // Half stays for the store: threads that hold reserved but empty room must not make others' returns bounce.
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

    /// <summary>Keeps the first items as far as there is room, and returns how many it kept.</summary>
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
            // Closed between the grant and the push.
            DropAll();
        }

        return granted;
    }

    /// <summary>Moves up to a span full of items out of one stripe, the home stripe first. 0: the store was empty.</summary>
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

    /// <summary>Sets room apart for a thread's cache; grants what is free, up to half of the limit over all threads.</summary>
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
                int granted = ReserveCapacity(asked);
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

    /// <summary>Drops up to <paramref name="most"/> items (see <see cref="StoreStripe{T}.Trim"/>) and returns how many.</summary>
    internal int Trim(int most, bool onlyUnused)
    {
        int dropped = 0;
        foreach (StoreStripe<T> stripe in _stripes)
        {
            dropped += stripe.Trim(most - dropped, onlyUnused);
        }

        ReleaseCapacity(dropped);
        return dropped;
    }

    /// <summary>Drops everything and never keeps anything again.</summary>
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

    private int ReserveCapacity(int wanted)
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
                return granted;
            }

            capacity = seen;
        }
    }

    private void ReleaseCapacity(int count) => Interlocked.Add(ref _capacity, count);

    private StoreStripe<T> StripeAt(int index) => _stripes[(int)((uint)index % (uint)_stripes.Length)];
}
