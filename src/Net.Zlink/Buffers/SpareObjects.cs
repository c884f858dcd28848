using System.Collections.Concurrent;
using System.Diagnostics.CodeAnalysis;

namespace Net.Zlink.Buffers;

/// <summary>Objects that wait for their next use, up to a number; more are left to the collector. Thread-safe.</summary>
/// <param name="most">How many wait at most.</param>
internal sealed class SpareObjects<T>(int most)
    where T : class
{
    private readonly ConcurrentQueue<T> _spares = new();
    private int _count; // Of its own: the queue counts itself by walking its segments.

    /// <summary>Takes one out, if there is one.</summary>
    public bool TryTake([NotNullWhen(true)] out T? spare)
    {
        if (!_spares.TryDequeue(out spare))
        {
            return false;
        }

        Interlocked.Decrement(ref _count);
        return true;
    }

    /// <summary>Takes one in, if there is room.</summary>
    public void Keep(T spare)
    {
        if (Interlocked.Increment(ref _count) <= most)
        {
            _spares.Enqueue(spare);
        }
        else
        {
            Interlocked.Decrement(ref _count);
        }
    }
}
