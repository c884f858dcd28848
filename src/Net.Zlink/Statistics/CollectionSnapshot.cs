namespace Net.Zlink;

/// <summary>What is added up over thousands of peers when a meter asks, looked at once for all instruments by which one collection reads
/// it. Safe for any number of threads.</summary>
/// <remarks>
/// A meter says neither who asks nor when a collection begins. A listener of all instruments asks them on one thread, in the order in which
/// they were made. So the first one always looks, and each that is asked next in that order, on that thread, is told what the first has
/// seen. Whoever asks anything else gets a look of his own, which changes nothing for others: a listener of a few instruments, one that was
/// asked twice, another thread.
/// </remarks>
/// <param name="look">Adds it up.</param>
/// <param name="time">The machine's: it is about how long code takes from one instrument to the next. A context's own clock may be a
/// test's, and stand still.</param>
internal sealed class CollectionSnapshot<T>(Func<T> look, TimeProvider time)
    where T : class
{
    // A collection takes milliseconds, on a machine with other work perhaps a hundred times that. It matters to who has a listener for each
    // instrument and asks them in this very order: he is told nothing older.
    public static readonly TimeSpan Freshness = TimeSpan.FromSeconds(1);

    private readonly Lock _gate = new();
    private int _readers;
    private T? _seen;
    private int _next; // Whose turn it is to be told the same.
    private int _thread;
    private long _since;

    /// <summary>A place for one more instrument, behind the others.</summary>
    /// <returns>What the instrument asks.</returns>
    public Func<T> AddReader()
    {
        int index = Interlocked.Increment(ref _readers) - 1;
        return () => Read(index);
    }

    private T Read(int index)
    {
        int thread = Environment.CurrentManagedThreadId;
        lock (_gate)
        {
            if (index > 0 && index == _next && thread == _thread && time.GetElapsedTime(_since) < Freshness)
            {
                _next++;
                return _seen!;
            }
        }

        long now = time.GetTimestamp(); // A look is as old as its beginning.
        T seen = look(); // Outside of the lock: it takes those of all sockets.
        if (index == 0)
        {
            lock (_gate)
            {
                (_seen, _next, _thread, _since) = (seen, 1, thread, now);
            }
        }

        return seen;
    }
}
