namespace Net.Zlink;

/// <summary>
/// A meter tells neither who collects nor when a collection begins. A listener of all instruments reads them on one thread in the order of
/// their creation. So the first instrument computes the sum, and each next one in that order on that thread gets the same.
/// </summary>
internal sealed class CollectionSnapshot<T>(Func<T> look, TimeProvider time)
    where T : class
{
    // A collection takes milliseconds, on a busy machine a hundred times that. The limit matters to a listener per instrument that reads in
    // this order: it gets nothing older.
    public static readonly TimeSpan Freshness = TimeSpan.FromSeconds(1);

    private readonly Lock _gate = new();
    private int _readers;
    private T? _seen;
    private int _next;
    private int _thread;
    private long _since;

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

        long now = time.GetTimestamp();
        T seen = look();
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
