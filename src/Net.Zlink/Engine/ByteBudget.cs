namespace Net.Zlink.Engine;

/// <summary>How many bytes may wait in all queues of a context together. Queues take parts of it by their <see cref="ByteShare"/>s.</summary>
/// <remarks>
/// Safe for any thread. A queue that found nothing left stands in line here, and is told from the thread pool once others have given something back: whoever gives back is under a lock of its own, and may be a shard.
/// </remarks>
internal sealed class ByteBudget : IThreadPoolWorkItem
{
    // So many are told at once; the next ones only if there was something for one of these. With thousands in line for the little that one connection gives back, each would only find nothing again.
    private const int ToldAtOnce = 64;

    private readonly Lock _gate = new();
    private readonly LinkedList<ByteShare> _line = [];
    private readonly List<ByteShare> _told = []; // Used by one turn at a time.
    private long _used;
    private long _taken;
    private bool _hasLine;
    private bool _isTelling;
    private bool _isToTellAgain;

    private ByteBudget(long limit) => Limit = limit;

    public long Limit { get; }

    /// <summary>What queues have taken and not given back.</summary>
    public long Used => Volatile.Read(ref _used);

    /// <summary>Queues that stand in line.</summary>
    public int Waiting
    {
        get
        {
            lock (_gate)
            {
                return _line.Count;
            }
        }
    }

    /// <summary>A budget of so many bytes; null for 0, which is none.</summary>
    public static ByteBudget? Of(long limit) => limit == 0 ? null : new ByteBudget(limit);

    /// <summary>Takes so many bytes, or nothing if there are not so many left.</summary>
    public bool TryTake(long bytes)
    {
        long used = Volatile.Read(ref _used);
        while (bytes <= Limit - used)
        {
            long seen = Interlocked.CompareExchange(ref _used, used + bytes, used);
            if (seen == used)
            {
                Interlocked.Increment(ref _taken);
                return true;
            }

            used = seen;
        }

        return false;
    }

    public void GiveBack(long bytes)
    {
        Interlocked.Add(ref _used, -bytes);

        // The barrier above and the one in Wait: either this sees the line, or whoever has entered it finds these bytes.
        if (Volatile.Read(ref _hasLine))
        {
            BeginTelling();
        }
    }

    /// <summary>Puts a share in line, which is told once something was given back. The caller then has to try once more.</summary>
    public void Wait(ByteShare share)
    {
        lock (_gate)
        {
            if (share.Place.List is null)
            {
                _line.AddLast(share.Place);
            }

            Volatile.Write(ref _hasLine, true);
        }

        Interlocked.MemoryBarrier();
    }

    /// <summary>Takes a share out of the line: its queue is closed.</summary>
    public void Leave(ByteShare share)
    {
        lock (_gate)
        {
            if (share.Place.List is not null)
            {
                _line.Remove(share.Place);
            }
        }
    }

    void IThreadPoolWorkItem.Execute()
    {
        do
        {
            bool isSomethingTaken;
            do
            {
                long taken = Interlocked.Read(ref _taken);
                isSomethingTaken = TellSome() && Interlocked.Read(ref _taken) != taken;
            }
            while (isSomethingTaken);
        }
        while (!EndTelling());
    }

    private bool TellSome()
    {
        lock (_gate)
        {
            while (_told.Count < ToldAtOnce && _line.First is { } first)
            {
                _line.RemoveFirst();
                _told.Add(first.Value);
            }

            Volatile.Write(ref _hasLine, _line.Count > 0);
        }

        bool isAnybodyTold = _told.Count > 0;
        foreach (ByteShare share in _told)
        {
            share.TellRoom();
        }

        _told.Clear();
        return isAnybodyTold;
    }

    private void BeginTelling()
    {
        lock (_gate)
        {
            _isToTellAgain = true;
            if (_isTelling)
            {
                return;
            }

            _isTelling = true;
            _isToTellAgain = false;
        }

        ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: false);
    }

    /// <summary>False if bytes were given back meanwhile, of which nobody was told.</summary>
    private bool EndTelling()
    {
        lock (_gate)
        {
            _isTelling = _isToTellAgain;
            _isToTellAgain = false;
            return !_isTelling;
        }
    }
}
