using Net.Zlink.Engine;

namespace Net.Zlink.Sockets.Links;

/// <summary>
/// Connections that are not read because a shared lane is full. They are resumed first come, first served, as many as there is capacity
/// for.
/// </summary>
/// <remarks>
/// <para>Resuming all at once cost 400 works of the shards for each message, with 2,000 connections and a high-water mark of 1.</para>
/// <para>
/// A resume ends behind the connection's own work, whatever that did: it filled the lane, read messages that do not count, found no
/// capacity (it then waits in front) or closed. The next one is resumed then, if there is capacity. So none is forgotten: while a
/// connection waits, either a resume is pending, or the lane was found full after it began to wait. Then the consumer that makes capacity
/// calls <see cref="ResumeWaiters"/>. Order of locks: this one, then the lane's.
/// </para>
/// </remarks>
/// <param name="lane">The shared lane.</param>
internal sealed class PausedReaders(InboundLane lane)
{
    // More than the shards can work off at once. Each may exceed the limits by a read of 64 KiB: 4 MiB.
    private const int MaxConcurrentResumes = 64;

    private readonly LinkedList<PausedReader> _readers = [];
    private ShortLock _gate;
    private int _resumes;
    private int _limit;

    /// <summary>The lane's limit in messages. 0: none.</summary>
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

    /// <summary>Whether a connection may read. If not, it is resumed in its turn. On its shard.</summary>
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
            return false; // In the handshake; it asks again after it.
        }

        if (waiter is null || !waiter.IsOf(session.Connection))
        {
            Remove(waiter);
            link.PausedReader = waiter = new PausedReader(this, session.Connection);
        }

        return !Add(waiter);
    }

    /// <summary>The lane was full. False: it has capacity after all.</summary>
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

        // Capacity may have come meanwhile, when no connection waited.
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

    /// <summary>There may be capacity: resumes the first connections. Outside of all locks.</summary>
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

    /// <summary>The number of free messages. If none, the lane marks its senders as paused.</summary>
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
