using Microsoft.Extensions.Logging;
using Net.Zlink.Flow;
using Net.Zlink.Monitoring;

namespace Net.Zlink.Engine;

/// <summary>How many bytes may wait in all queues of a context together. Queues take parts of it by their <see cref="ByteShare"/>s.</summary>
/// <remarks>
/// Safe for any thread. A queue that found too little left stands in line here, and is told from the thread pool once there is what it needs: whoever gives back is under a lock of its own, and may be a shard.
/// </remarks>
internal sealed class ByteBudget : IThreadPoolWorkItem
{
    // As many as are looked at in one hold of the lock, some microseconds: whoever is refused, or gives back, may wait for it.
    private const int MaxSharesPerCheck = 64;

    private const long NoWaiter = long.MaxValue;

    private readonly ILogger _logger;
    private readonly Lock _gate = new();
    private readonly LinkedList<ByteShare> _waiters = [];
    private readonly List<ByteShare> _notified = []; // Used by one turn at a time.
    private long _used;
    private long _skipped;
    private long _leastNeed = NoWaiter; // Nobody in line needs less. 0 during a turn of telling, so that what is given back meanwhile counts.
    private long _minSkipped; // The same of those that the turn has left in line, and of those who have come since it began.
    private bool _isNotifying;
    private bool _notifyAgain;

    private ByteBudget(long limit, ILogger logger) => (Limit, _logger) = (limit, logger);

    public long Limit { get; }

    /// <summary>What queues have taken and not given back.</summary>
    public long Used => Volatile.Read(ref _used);

    /// <summary>Somebody stands in line.</summary>
    public bool HasWaiters => Volatile.Read(ref _leastNeed) != NoWaiter;

    /// <summary>Queues that stand in line.</summary>
    public int Waiting
    {
        get
        {
            using (_gate.EnterScope())
            {
                return _waiters.Count;
            }
        }
    }

    /// <summary>What is left to be taken.</summary>
    public long Left => Limit - Used;

    /// <summary>What peers that have gone have left behind takes up all of it: whoever came now could do the same.</summary>
    public bool IsFullOfDetached => Volatile.Read(ref _skipped) >= Limit;

    /// <summary>A budget of so many bytes; null for 0, which is none.</summary>
    public static ByteBudget? Of(long limit, ILogger logger) => limit == 0 ? null : new ByteBudget(limit, logger);

    /// <summary>Takes so many bytes, or nothing if there are not so many left.</summary>
    public bool TryReserve(long bytes)
    {
        long used = Used;
        while (bytes <= Limit - used)
        {
            long seen = Interlocked.CompareExchange(ref _used, used + bytes, used);
            if (seen == used)
            {
                return true;
            }

            used = seen;
        }

        return false;
    }

    public void GiveBack(long bytes)
    {
        long used = Interlocked.Add(ref _used, -bytes);

        // The barrier above and the one in Wait: either this sees who has entered the line, or they find these bytes.
        if (Limit - used >= Volatile.Read(ref _leastNeed))
        {
            BeginNotify();
        }
    }

    /// <summary>A queue's peer has gone, and left so much in it that is not read: all of it counts from now on, and its place too, however little is left.</summary>
    /// <param name="bytes">What was left behind.</param>
    /// <param name="more">How much of that has not been taken yet; less than 0: that has to be given back.</param>
    public void ReserveDetached(long bytes, long more)
    {
        Interlocked.Add(ref _skipped, bytes);
        GiveBack(-more);
    }

    /// <summary>So much of what was left behind is read.</summary>
    public void ReleaseDetached(long bytes)
    {
        Interlocked.Add(ref _skipped, -bytes);
        GiveBack(bytes);
    }

    /// <summary>Puts a share in line, or notes that one that stands there needs less now. It is told once there is what it needs; what was given back since it looked it has to look for once more.</summary>
    public void Wait(ByteShare share)
    {
        using (_gate.EnterScope())
        {
            if (share.QueuePosition.List is null)
            {
                _waiters.AddLast(share.QueuePosition);
            }

            _minSkipped = Math.Min(_minSkipped, share.Need);
            Volatile.Write(ref _leastNeed, Math.Min(_leastNeed, share.Need));
        }

        Interlocked.MemoryBarrier();
    }

    /// <summary>Takes a share out of the line: its queue needs nothing any more.</summary>
    public void Leave(ByteShare share)
    {
        using (_gate.EnterScope())
        {
            if (share.QueuePosition.List is not null)
            {
                _waiters.Remove(share.QueuePosition);
                if (_waiters.Count == 0 && !_isNotifying)
                {
                    Volatile.Write(ref _leastNeed, NoWaiter);
                }
            }
        }
    }

    void IThreadPoolWorkItem.Execute()
    {
        do
        {
            NotifyAll(BeginCheck());
        }
        while (!EndCheck());
    }

    private void BeginNotify()
    {
        using (_gate.EnterScope())
        {
            _notifyAgain = true;
            if (_isNotifying)
            {
                return;
            }

            _isNotifying = true;
        }

        ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: false);
    }

    /// <returns>How many stand in line.</returns>
    private int BeginCheck()
    {
        using (_gate.EnterScope())
        {
            _notifyAgain = false;
            _minSkipped = NoWaiter;
            Volatile.Write(ref _leastNeed, 0);
            return _waiters.Count;
        }
    }

    /// <summary>Looks at each once, and tells those for whom there is enough.</summary>
    private void NotifyAll(int inLine)
    {
        while (inLine > 0)
        {
            using (_gate.EnterScope())
            {
                int rest = Math.Max(inLine - MaxSharesPerCheck, 0);
                for (; inLine > rest && _waiters.First is { } first; inLine--)
                {
                    CheckShare(first);
                }

                inLine = _waiters.Count == 0 ? 0 : rest; // Some may have left meanwhile.
            }

            _notified.ForEach(Notify);
            _notified.Clear();
        }
    }

    private void CheckShare(LinkedListNode<ByteShare> first)
    {
        _waiters.RemoveFirst();
        if (first.Value.Need <= Left)
        {
            _notified.Add(first.Value);
        }
        else
        {
            _minSkipped = Math.Min(_minSkipped, first.Value.Need);
            _waiters.AddLast(first);
        }
    }

    private void Notify(ByteShare share)
    {
        try
        {
            share.NotifyCapacity();
        }
        catch (Exception e)
        {
            Log.CapacityNotNotified(_logger, e); // One queue's fault, not the others', nor the process's.
        }
    }

    /// <summary>False if bytes were given back meanwhile that are enough for somebody who is still in line.</summary>
    private bool EndCheck()
    {
        using (_gate.EnterScope())
        {
            Volatile.Write(ref _leastNeed, _waiters.Count == 0 ? NoWaiter : _minSkipped);
            _isNotifying = _notifyAgain && Left >= _leastNeed;
            return !_isNotifying;
        }
    }
}
