namespace Net.Zlink.Engine;

/// <summary>A queue of works, first in first out: any thread pushes, the thread that holds the shard takes. Lock-free, intrusive, allocates nothing.</summary>
/// <remarks>Producers push onto a list, newest first; the taker swaps the whole list out and turns it round, so each work is touched twice whatever the contention.</remarks>
internal struct WorkQueue
{
    private ShardWork? _posted;     // newest first
    private ShardWork? _dequeued;      // oldest first, touched only by the taker
    private int _dequeuedCount;        // written by the taker only

    /// <summary>True if something was pushed that the taker has not swapped out yet.</summary>
    public readonly bool HasPosted => Volatile.Read(in _posted) is not null;

    /// <summary>True if there is anything to take. Exact for the taker, a hint for others.</summary>
    public readonly bool HasWork => HasPosted || Volatile.Read(in _dequeued) is not null;

    /// <summary>Adds reasons to run; enqueues the work if it had none.</summary>
    public void Push(ShardWork work, int reasons)
    {
        if (Interlocked.Or(ref work.Pending, reasons) != 0)
        {
            return;
        }

        ShardWork? head = Volatile.Read(ref _posted);
        while (true)
        {
            work.NextReady = head;
            ShardWork? seen = Interlocked.CompareExchange(ref _posted, work, head);
            if (ReferenceEquals(seen, head))
            {
                return;
            }

            head = seen;
        }
    }

    /// <summary>The oldest work, unlinked, or null. Take its reasons after this: from then on it may be pushed again.</summary>
    public ShardWork? DequeueAll()
    {
        ShardWork? first = _dequeued;
        if (first is null)
        {
            if (Volatile.Read(ref _posted) is null)
            {
                return null;
            }

            ShardWork? newest = Interlocked.Exchange(ref _posted, null);
            int taken = 0;
            while (newest is not null)
            {
                taken++;
                ShardWork? older = newest.NextReady;
                newest.NextReady = first;
                first = newest;
                newest = older;
            }

            Volatile.Write(ref _dequeuedCount, taken);
        }

        _dequeued = first!.NextReady;
        first.NextReady = null;
        Volatile.Write(ref _dequeuedCount, _dequeuedCount - 1);
        return first;
    }

    /// <summary>How many works wait. Walks a list that others change: approximate, for statistics.</summary>
    public readonly int Count
    {
        get
        {
            // Bounded, because the list changes under the walk.
            const int Most = 1_000_000;
            int posted = 0;
            for (ShardWork? work = Volatile.Read(in _posted); work is not null && posted < Most; work = Volatile.Read(ref work.NextReady))
            {
                posted++;
            }

            return posted + Volatile.Read(in _dequeuedCount);
        }
    }
}
