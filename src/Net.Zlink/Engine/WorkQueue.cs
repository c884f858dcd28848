namespace Net.Zlink.Engine;

/// <summary>A FIFO queue of work: any thread pushes, the shard's thread dequeues. Lock-free, intrusive, without allocations.</summary>
/// <remarks>
/// Producers push onto a list, newest first. The consumer takes the whole list and reverses it, so each item is touched twice.
/// </remarks>
internal struct WorkQueue
{
    private ShardWork? _posted; // Newest first.
    private ShardWork? _dequeued; // Oldest first, for the consumer only.
    private int _dequeuedCount; // Written by the consumer only.

    public readonly bool HasPosted => Volatile.Read(in _posted) is not null;

    /// <summary>Exact for the consumer, a hint for others.</summary>
    public readonly bool HasWork => HasPosted || Volatile.Read(in _dequeued) is not null;

    /// <summary>Enqueues the work if it had no reasons.</summary>
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

    /// <summary>The oldest item, or null. Read its reasons afterwards: from then on it may be pushed again.</summary>
    public ShardWork? Dequeue()
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

    /// <summary>Walks a changing list: approximate, for statistics.</summary>
    public readonly int Count
    {
        get
        {
            // A limit, since the list changes during the walk.
            const int MaxWalked = 1_000_000;
            int posted = 0;
            ShardWork? work = Volatile.Read(in _posted);
            for (; work is not null && posted < MaxWalked; work = Volatile.Read(ref work.NextReady))
            {
                posted++;
            }

            return posted + Volatile.Read(in _dequeuedCount);
        }
    }
}
