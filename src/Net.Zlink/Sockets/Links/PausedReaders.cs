using Net.Zlink.Engine;

namespace Net.Zlink.Sockets.Links;

/// <summary>
/// Connections that are not read because a shared lane is full, resumed first come, first served, as many as there is capacity for.
/// Resuming all at once cost 400 works of the shards for each message, with 2,000 connections and a high-water mark of 1. A resume ends
/// behind the connection's own work, whatever that did; then the next begins, if there is capacity. So none is forgotten: while a
/// connection waits, either a resume is pending, or the lane was found full after it began to wait. Order of locks: this one, then the
/// lane's.
/// </summary>
internal sealed class PausedReaders(InboundLane lane)
{
    // Each resumed connection may exceed the limits by a read of 64 KiB: 4 MiB in all.
    private const int MaxConcurrentResumes = 64;

    private readonly LinkedList<PausedReader> _readers = [];
    private ShortLock _gate;
    private int _resumes;
    private int _limit;

    public int Limit
    {
        set => Volatile.Write(ref _limit, value);
    }

    public int Count
    {
        get
        {
            using (_gate.EnterScope())
            {
                return _readers.Count;
            }
        }
    }

    /// <summary>A connection that may not read is resumed in its turn.</summary>
    public bool MayRead(WireLink link)
    {
        PausedReader? waiter = link.PausedReader;
        if (lane.MayRead())
        {
            waiter?.OnCapacityFound();
            return true;
        }

        if (link.Session is not { } session)
        {
            return false;
        }

        if (waiter is null || !waiter.IsOf(session.Connection))
        {
            Remove(waiter);
            link.PausedReader = waiter = new PausedReader(this, session.Connection);
        }

        return !Add(waiter);
    }

    public bool Add(PausedReader waiter)
    {
        if (waiter.IsQueued)
        {
            return true; // Found full after the addition: the thread that makes capacity finds the waiter here.
        }

        using (_gate.EnterScope())
        {
            waiter.Add(_readers);
        }

        if (!lane.MayRead())
        {
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
            if (_readers.First is not { } first || _resumes >= MaxConcurrentResumes || _resumes >= FreeMessages())
            {
                return null;
            }

            _resumes++;
            first.Value.TryResume(_readers);
            return first.Value;
        }
    }

    private long FreeMessages()
    {
        if (!lane.MayRead())
        {
            return 0;
        }

        int mark = Volatile.Read(ref _limit);
        return mark == 0 ? MaxConcurrentResumes : Math.Max(1, mark - lane.Counts.QueuedMessages);
    }
}
