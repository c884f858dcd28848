namespace Net.Zlink;

/// <summary>A sum over thousands of peers, computed once for all instruments that one meter collection reads. Thread-safe.</summary>
/// <remarks>
/// A meter tells neither who collects nor when a collection begins. A listener of all instruments reads them on one thread in the order of
/// their creation. So the first instrument computes the sum, and each next one in that order on that thread gets the same. Any other read
/// computes its own, which changes nothing for others.
/// </remarks>
/// <param name="look">Computes the sum.</param>
/// <param name="time">
/// The system's clock, because this is about real time between two instruments. A context's clock may be a test's.
/// </param>
internal sealed class CollectionSnapshot<T>(Func<T> look, TimeProvider time)
    where T : class
{
    // A collection takes milliseconds, on a busy machine a hundred times that. The limit matters to a listener per instrument that reads in
    // this order: it gets nothing older.
    public static readonly TimeSpan Freshness = TimeSpan.FromSeconds(1);

    private readonly Lock _gate = new();
    private int _readers;
    private T? _seen;
    private int _next; // The next instrument in the order.
    private int _thread;
    private long _since;

    /// <summary>Adds an instrument after the others.</summary>
    /// <returns>The function that the instrument reads.</returns>
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

        long now = time.GetTimestamp(); // A sum is as old as its beginning.
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
