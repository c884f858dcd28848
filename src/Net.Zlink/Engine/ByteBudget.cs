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
    private const int LookedAtAtOnce = 64;

    private const long NobodyWaits = long.MaxValue;

    private readonly ILogger _logger;
    private readonly Lock _gate = new();
    private readonly LinkedList<ByteShare> _line = [];
    private readonly List<ByteShare> _told = []; // Used by one turn at a time.
    private long _used;
    private long _leftBehind;
    private long _leastNeed = NobodyWaits; // Nobody in line needs less. 0 during a turn of telling, so that what is given back meanwhile counts.
    private long _leastBehind; // The same of those that the turn has left in line, and of those who have come since it began.
    private bool _isTelling;
    private bool _isToTellAgain;

    private ByteBudget(long limit, ILogger logger) => (Limit, _logger) = (limit, logger);

    public long Limit { get; }

    /// <summary>What queues have taken and not given back.</summary>
    public long Used => Volatile.Read(ref _used);

    /// <summary>Somebody stands in line.</summary>
    public bool HasLine => Volatile.Read(ref _leastNeed) != NobodyWaits;

    /// <summary>Queues that stand in line.</summary>
    public int Waiting
    {
        get
        {
            using (_gate.Hold())
            {
                return _line.Count;
            }
        }
    }

    /// <summary>What is left to be taken.</summary>
    public long Left => Limit - Used;

    /// <summary>What peers that have gone have left behind takes up all of it: whoever came now could do the same.</summary>
    public bool IsFullOfRests => Volatile.Read(ref _leftBehind) >= Limit;

    /// <summary>A budget of so many bytes; null for 0, which is none.</summary>
    public static ByteBudget? Of(long limit, ILogger logger) => limit == 0 ? null : new ByteBudget(limit, logger);

    /// <summary>Takes so many bytes, or nothing if there are not so many left.</summary>
    public bool TryTake(long bytes)
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
            BeginTelling();
        }
    }

    /// <summary>A queue's peer has gone, and left so much in it that is not read: all of it counts from now on, and its place too, however little is left.</summary>
    /// <param name="bytes">What was left behind.</param>
    /// <param name="more">How much of that has not been taken yet; less than 0: that has to be given back.</param>
    public void TakeRest(long bytes, long more)
    {
        Interlocked.Add(ref _leftBehind, bytes);
        GiveBack(-more);
    }

    /// <summary>So much of what was left behind is read.</summary>
    public void GiveRestBack(long bytes)
    {
        Interlocked.Add(ref _leftBehind, -bytes);
        GiveBack(bytes);
    }

    /// <summary>Puts a share in line, or notes that one that stands there needs less now. It is told once there is what it needs; what was given back since it looked it has to look for once more.</summary>
    public void Wait(ByteShare share)
    {
        using (_gate.Hold())
        {
            if (share.Place.List is null)
            {
                _line.AddLast(share.Place);
            }

            _leastBehind = Math.Min(_leastBehind, share.Need);
            Volatile.Write(ref _leastNeed, Math.Min(_leastNeed, share.Need));
        }

        Interlocked.MemoryBarrier();
    }

    /// <summary>Takes a share out of the line: its queue needs nothing any more.</summary>
    public void Leave(ByteShare share)
    {
        using (_gate.Hold())
        {
            if (share.Place.List is not null)
            {
                _line.Remove(share.Place);
                if (_line.Count == 0 && !_isTelling)
                {
                    Volatile.Write(ref _leastNeed, NobodyWaits);
                }
            }
        }
    }

    void IThreadPoolWorkItem.Execute()
    {
        do
        {
            TellAll(BeginTurn());
        }
        while (!EndTurn());
    }

    private void BeginTelling()
    {
        using (_gate.Hold())
        {
            _isToTellAgain = true;
            if (_isTelling)
            {
                return;
            }

            _isTelling = true;
        }

        ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: false);
    }

    /// <returns>How many stand in line.</returns>
    private int BeginTurn()
    {
        using (_gate.Hold())
        {
            _isToTellAgain = false;
            _leastBehind = NobodyWaits;
            Volatile.Write(ref _leastNeed, 0);
            return _line.Count;
        }
    }

    /// <summary>Looks at each once, and tells those for whom there is enough.</summary>
    private void TellAll(int inLine)
    {
        while (inLine > 0)
        {
            using (_gate.Hold())
            {
                int rest = Math.Max(inLine - LookedAtAtOnce, 0);
                for (; inLine > rest && _line.First is { } first; inLine--)
                {
                    LookAt(first);
                }

                inLine = _line.Count == 0 ? 0 : rest; // Some may have left meanwhile.
            }

            _told.ForEach(Tell);
            _told.Clear();
        }
    }

    private void LookAt(LinkedListNode<ByteShare> first)
    {
        _line.RemoveFirst();
        if (first.Value.Need <= Left)
        {
            _told.Add(first.Value);
        }
        else
        {
            _leastBehind = Math.Min(_leastBehind, first.Value.Need);
            _line.AddLast(first);
        }
    }

    private void Tell(ByteShare share)
    {
        try
        {
            share.TellRoom();
        }
        catch (Exception e)
        {
            Log.RoomNotTold(_logger, e); // One queue's fault, not the others', nor the process's.
        }
    }

    /// <summary>False if bytes were given back meanwhile that are enough for somebody who is still in line.</summary>
    private bool EndTurn()
    {
        using (_gate.Hold())
        {
            Volatile.Write(ref _leastNeed, _line.Count == 0 ? NobodyWaits : _leastBehind);
            _isTelling = _isToTellAgain && Left >= _leastNeed;
            return !_isTelling;
        }
    }
}
