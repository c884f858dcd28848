namespace Net.Zlink.Buffers;

/// <summary>A LIFO stripe: the last returned buffer is the likeliest in a cache.</summary>
internal sealed class StoreStripe<T>
    where T : class
{
    private readonly Lock _gate = new();
    private Slot<T>[] _items = [];
    private int _count;
    private int _lowWater;

    internal int Count => Volatile.Read(ref _count);

    internal bool TryPush(ReadOnlySpan<Slot<T>> items, bool wait)
    {
        if (!Enter(wait))
        {
            return false;
        }

        try
        {
            if (_items.Length - _count < items.Length)
            {
                Array.Resize(ref _items, Math.Max(_count + items.Length, _items.Length * 2));
            }

            items.CopyTo(_items.AsSpan(_count));
            Volatile.Write(ref _count, _count + items.Length);
            return true;
        }
        finally
        {
            _gate.Exit();
        }
    }

    /// <summary>Returns the number of items moved, or -1 if another thread is inside and <paramref name="wait"/> is false.</summary>
    internal int Pop(Span<Slot<T>> destination, bool wait)
    {
        if (!Enter(wait))
        {
            return -1;
        }

        try
        {
            int taken = Math.Min(_count, destination.Length);
            int left = _count - taken;
            Span<Slot<T>> source = _items.AsSpan(left, taken);
            source.CopyTo(destination);
            source.Clear();
            Volatile.Write(ref _count, left);
            _lowWater = Math.Min(_lowWater, left);
            return taken;
        }
        finally
        {
            _gate.Exit();
        }
    }

    /// <summary><paramref name="onlyUnused"/>: at most the fewest that were here since the last call.</summary>
    internal int Trim(int maxItems, bool onlyUnused)
    {
        lock (_gate)
        {
            int dropped = Math.Min(maxItems, onlyUnused ? _lowWater : _count);
            int left = _count - dropped;

            Span<Slot<T>> items = _items.AsSpan(0, _count);
            items[dropped..].CopyTo(items);
            items[left..].Clear();
            Volatile.Write(ref _count, left);
            _lowWater = left;
            if (left == 0)
            {
                _items = [];
            }

            return dropped;
        }
    }

    private bool Enter(bool wait)
    {
        if (_gate.TryEnter())
        {
            return true;
        }

        if (wait)
        {
            _gate.Enter();
        }

        return wait;
    }
}
