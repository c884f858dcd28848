using Net.Zlink.Flow;

namespace Net.Zlink.Buffers;

/// <summary>
/// One last-in-first-out part of a <see cref="SharedStore{T}"/> under a lock of its own, held for the move of at most one batch of
/// references. Thread-safe. The most recently returned buffer goes out first: its bytes are the likeliest to be in a processor cache.
/// </summary>
internal sealed class StoreStripe<T>
    where T : class
{
    private readonly Lock _gate = new();
    private Slot<T>[] _items = [];
    private int _count;
    private int _lowWater;

    /// <summary>A momentary value: a hint for those who look for a stripe worth locking.</summary>
    internal int Count => Volatile.Read(ref _count);

    /// <summary>Takes all <paramref name="items"/>, unless another thread is inside and <paramref name="wait"/> is false.</summary>
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

    /// <summary>
    /// Moves up to as many items as fit. Returns how many, or -1 if another thread is inside and <paramref name="wait"/> is false.
    /// </summary>
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

    /// <summary>
    /// Drops up to <paramref name="most"/> items; with <paramref name="onlyUnused"/> no more than the fewest that lay here since the last
    /// call, which are the ones nobody needed. Begins a new period. Returns how many were dropped.
    /// </summary>
    internal int Trim(int most, bool onlyUnused)
    {
        using (_gate.EnterScope())
        {
            int dropped = Math.Min(most, onlyUnused ? _lowWater : _count);
            int left = _count - dropped;

            // The oldest lie at the bottom.
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
            _gate.EnterScope();
        }

        return wait;
    }
}
