using System.Collections.Concurrent;
using System.Diagnostics.CodeAnalysis;
using Net.Zlink.Flow;

namespace Net.Zlink.Buffers;

/// <summary>Objects that wait for their next use, up to a number; more are left to the collector. Thread-safe.</summary>
/// <remarks>The queue takes a lock now and then. A thread that is interrupted there does without a spare: see <see cref="Uninterrupted"/>.</remarks>
/// <param name="most">How many wait at most.</param>
internal sealed class ObjectCache<T>(int most)
    where T : class
{
    private readonly ConcurrentQueue<T> _items = new();
    private int _count; // Of its own: the queue counts itself by walking its segments.

    /// <summary>Takes the one that the thread has at hand, else one out, if there is one.</summary>
    /// <param name="atHand">A static of the thread's: a visit of the queue is 25 ns, and gives out what has waited longest, which is in no cache.</param>
    /// <param name="spare">What was taken.</param>
    public bool TryRent(ref T? atHand, [NotNullWhen(true)] out T? spare)
    {
        spare = atHand;
        atHand = null;
        return spare is not null || TryRent(out spare);
    }

    /// <summary>Leaves one at hand if there is none, else takes it in, if there is room.</summary>
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

    /// <summary>Takes one out, if there is one.</summary>
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

    /// <summary>Takes one in, if there is room.</summary>
    public void Return(T spare)
    {
        if (Interlocked.Increment(ref _count) <= most)
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
