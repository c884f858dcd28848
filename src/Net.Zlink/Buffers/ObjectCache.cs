using System.Collections.Concurrent;
using System.Diagnostics.CodeAnalysis;
using Net.Zlink.Flow;

namespace Net.Zlink.Buffers;

/// <summary>The queue sometimes takes a lock: a thread interrupted there gets no object, see <see cref="Uninterrupted"/>.</summary>
internal sealed class ObjectCache<T>(int limit)
    where T : class
{
    private readonly ConcurrentQueue<T> _items = new();
    private int _count;

    /// <summary>The queue costs 25 ns and returns the oldest object, which no processor has cached.</summary>
    public bool TryRent(ref T? atHand, [NotNullWhen(true)] out T? spare)
    {
        spare = atHand;
        atHand = null;
        return spare is not null || TryRent(out spare);
    }

    public void Return(ref T? atHand, T spare)
    {
        if (atHand is null)
        {
            atHand = spare;
        }
        else
        {
            Return(spare);
        }
    }

    public bool TryRent([NotNullWhen(true)] out T? spare)
    {
        try
        {
            if (!_items.TryDequeue(out spare))
            {
                return false;
            }
        }
        catch (ThreadInterruptedException)
        {
            Uninterrupted.AskAgain(interrupted: true);
            spare = null;
            return false;
        }

        Interlocked.Decrement(ref _count);
        return true;
    }

    public void Return(T spare)
    {
        if (Interlocked.Increment(ref _count) <= limit)
        {
            try
            {
                _items.Enqueue(spare);
                return;
            }
            catch (ThreadInterruptedException)
            {
                Uninterrupted.AskAgain(interrupted: true);
            }
        }

        Interlocked.Decrement(ref _count);
    }
}
