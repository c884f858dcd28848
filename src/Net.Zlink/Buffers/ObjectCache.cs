using System.Collections.Concurrent;
using System.Diagnostics.CodeAnalysis;

namespace Net.Zlink.Buffers;

internal sealed class ObjectCache<T>(int limit)
    where T : class
{
    private readonly ConcurrentQueue<T> _items = new();
    private int _count;

    /// <summary>The queue costs 25 ns and returns the oldest object, which no processor has cached.</summary>
    public bool TryRent(ref T? atHand, [NotNullWhen(true)] out T? cached)
    {
        cached = atHand;
        atHand = null;
        return cached is not null || TryRent(out cached);
    }

    public void Return(ref T? atHand, T cached)
    {
        if (atHand is null)
        {
            atHand = cached;
        }
        else
        {
            Return(cached);
        }
    }

    public bool TryRent([NotNullWhen(true)] out T? cached)
    {
        if (!_items.TryDequeue(out cached))
        {
            return false;
        }

        Interlocked.Decrement(ref _count);
        return true;
    }

    public void Return(T cached)
    {
        if (Interlocked.Increment(ref _count) <= limit)
        {
            _items.Enqueue(cached);
            return;
        }

        Interlocked.Decrement(ref _count);
    }
}
