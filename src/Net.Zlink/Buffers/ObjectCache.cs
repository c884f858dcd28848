using System.Collections.Concurrent;
using System.Diagnostics.CodeAnalysis;

namespace Net.Zlink.Buffers;

/// <summary>Objects for reuse. Thread-safe.</summary>
internal sealed class ObjectCache<T>(int limit)
    where T : class, new()
{
    private readonly ConcurrentQueue<T> _items = new();
    private int _count;

    public T Rent() => TryRent(out T? cached) ? cached : new T();

    public T Rent(ref T? atHand) => TryRent(ref atHand, out T? cached) ? cached : new T();

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

    /// <summary>False: there are enough.</summary>
    public bool Return(T cached)
    {
        bool isKept = Interlocked.Increment(ref _count) <= limit;
        if (isKept)
        {
            _items.Enqueue(cached);
        }
        else
        {
            Interlocked.Decrement(ref _count);
        }

        return isKept;
    }
}
