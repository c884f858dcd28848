using Net.Zlink.Flow;

namespace Net.Zlink.Engine;

/// <summary>
/// Connections that are not read because a shared limit is reached, resumed first come, first served, as many as there is capacity for.
/// Resuming all at once cost 400 works of the shards for each message, with 2,000 connections and a high-water mark of 1. A resume ends
/// behind the connection's own work, whatever that did; then the next begins, if there is capacity. So none is forgotten: while a
/// connection waits, either a resume is pending, or the limit was found reached after it began to wait. Order of locks: this one, then
/// the limit's.
/// </summary>
/// <param name="freeReads">About how many connections may read now; 0: none may.</param>
internal sealed class PausedReaders(Func<long> freeReads)
{
    // Each resumed connection may exceed the limits by a read of 64 KiB: 4 MiB in all.
    private const int MaxConcurrentResumes = 64;

    private readonly LinkedList<PausedReader> _readers = [];
    private ShortLock _gate;
    private int _resumes;
    private int _count;

    /// <summary>Read without the lock.</summary>
    public int Count => Volatile.Read(ref _count);

    public bool HasCapacity => freeReads() > 0;

    /// <summary>
    /// If not, <see cref="Add"/> follows. A reader that overtakes those that wait may do so again and again, if it is quick.
    /// </summary>
    public bool MayRead(PausedReader? reader, bool mayOvertake)
    {
        bool mayRead = HasCapacity && (mayOvertake || Count == 0 || reader is { IsResumePending: true });
        if (mayRead)
        {
            reader?.OnCapacityFound();
        }

        return mayRead;
    }

    /// <summary>False: it may read. True: it waits.</summary>
    public bool Add(PausedReader waiter, bool mayOvertake)
    {
        if (waiter.IsQueued)
        {
            return true; // Found full after the addition: the thread that makes capacity finds the waiter here.
        }

        using (_gate.EnterScope())
        {
            waiter.Add(_readers);
            Volatile.Write(ref _count, _readers.Count);
        }

        Interlocked.MemoryBarrier(); // Pairs with the one of SocketQuota.Add: either capacity is found here, or the waiter there.
        if (freeReads() == 0)
        {
            return true;
        }

        if (!mayOvertake)
        {
            ResumeWaiters(); // Perhaps this one.
            return true;
        }

        Remove(waiter);
        waiter.OnCapacityFound();
        return false;
    }

    public void Remove(PausedReader? waiter)
    {
        if (waiter is { IsQueued: true })
        {
            using (_gate.EnterScope())
            {
                waiter.Remove(_readers);
                Volatile.Write(ref _count, _readers.Count);
            }
        }
    }

    public void ResumeWaiters()
    {
        while (Next() is { } next)
        {
            next.BeginResume();
        }
    }

    public void FinishResumes(PausedReader waiter)
    {
        using (_gate.EnterScope())
        {
            _resumes -= waiter.EndResumes();
        }

        ResumeWaiters();
    }

    private PausedReader? Next()
    {
        using (_gate.EnterScope())
        {
            if (_readers.First is not { } first || _resumes >= Math.Min(MaxConcurrentResumes, freeReads()))
            {
                return null;
            }

            _resumes++;
            first.Value.TryResume(_readers);
            Volatile.Write(ref _count, _readers.Count);
            return first.Value;
        }
    }
}

/// <summary>One connection's place among them. A resume ends as a work of the connection's shard, behind the read.</summary>
internal sealed class PausedReader : ShardWork
{
    private readonly PausedReaders _readers;
    private readonly ShardLoop _shard;
    private readonly Action _resume;
    private readonly LinkedListNode<PausedReader> _node;
    private int _resumes;
    private bool _isResumePending;

    public PausedReader(PausedReaders readers, ShardLoop shard, Action resume)
    {
        _readers = readers;
        _shard = shard;
        _resume = resume;
        _node = new LinkedListNode<PausedReader>(this);
    }

    public bool IsQueued => _node.List is not null;

    /// <summary>Its turn has come, and it has not read since.</summary>
    public bool IsResumePending => Volatile.Read(ref _isResumePending);

    public void Leave() => _readers.Remove(this);

    public void OnCapacityFound()
    {
        if (IsResumePending)
        {
            Volatile.Write(ref _isResumePending, false);
        }
    }

    /// <summary>Under the lock of <see cref="PausedReaders"/>, as the next three.</summary>
    public void Add(LinkedList<PausedReader> list)
    {
        if (IsQueued)
        {
            return;
        }

        if (_isResumePending)
        {
            list.AddFirst(_node);
        }
        else
        {
            list.AddLast(_node);
        }
    }

    public void Remove(LinkedList<PausedReader> list)
    {
        if (IsQueued)
        {
            list.Remove(_node);
        }
    }

    public void TryResume(LinkedList<PausedReader> list)
    {
        _resumes++;
        Volatile.Write(ref _isResumePending, true);
        Remove(list);
    }

    /// <summary>A second resume may begin before the first has ended; both end together.</summary>
    public int EndResumes()
    {
        int turns = _resumes;
        _resumes = 0;
        Volatile.Write(ref _isResumePending, false);
        return turns;
    }

    public void BeginResume()
    {
        _resume();
        _shard.Post(this, 1);
    }

    internal override void Run(int reasons) => _readers.FinishResumes(this);

    internal override string Describe() => "a read that resumes";
}

/// <summary>
/// The unread bytes of all lanes of a socket. While they are at the limit no peer is read, not even one without unread messages: so their
/// number bounds nothing. Lanes count under their own locks, as <see cref="PausedReaders"/> does.
/// </summary>
internal sealed class SocketQuota
{
    private readonly long _limit;
    private long _bytes;

    private SocketQuota(long limit)
    {
        _limit = limit;
        PausedReaders = new PausedReaders(() => MayRead ? Math.Max(1, (_limit - Volatile.Read(ref _bytes)) / ReceiveSlab.ReadSize) : 0);
    }

    public PausedReaders PausedReaders { get; }

    /// <summary>A reader waits that may read. The barrier of <see cref="Add"/> pairs with the one of the reader's addition.</summary>
    public bool CanResume => PausedReaders.Count > 0 && MayRead;

    public bool MayRead => Volatile.Read(ref _bytes) < _limit;

    public static SocketQuota? Of(long limit) => limit == 0 ? null : new SocketQuota(limit);

    public void Add(long bytes)
    {
        if (bytes != 0)
        {
            Interlocked.Add(ref _bytes, bytes);
        }
    }
}
