using Net.Zlink.Engine;

namespace Net.Zlink.Sockets.Links;

/// <summary>The connections that are not read because a lane that they share is full, first come, first served: as many are told of room as
/// there is room for.</summary>
/// <remarks>
/// All of them at once, of which one finds room, cost 400 works of the shards for each message that was read, with 2,000 connections and a
/// mark of 1.
/// <para>
/// Whoever is told has a turn. It ends behind his connection's own work, whatever that did: read and fill the lane, read what is nobody's
/// business, find the room taken (then he stands in front again), end. The next one is told then, if there is room. So nobody is forgotten:
/// while somebody stands here, either a turn is out, or the lane was found full after he had come, and whoever makes room in it calls
/// <see cref="ResumeWaiters"/>.
/// </para>
/// Order of locks: this one's, then the lane's.
/// </remarks>
/// <param name="lane">What they wait for.</param>
internal sealed class PausedReaders(InboundLane lane)
{
    // Whatever the lane's mark says: more than the shards can work off at once, and, as each may bring a read of 64 KiB past the limits, 4
    // MiB.
    private const int MaxConcurrentResumes = 64;

    private readonly LinkedList<PausedReader> _readers = [];
    private ShortLock _gate;
    private int _resumes;
    private int _limit;

    /// <summary>How many messages the lane takes; 0: any number.</summary>
    public int Limit
    {
        set => Volatile.Write(ref _limit, value);
    }

    /// <summary>How many stand here.</summary>
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

    /// <summary>Whether a connection may read on. If not, it is resumed when there is room and its turn has come. On its shard.</summary>
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
            return false; // In the handshake, behind which it asks again.
        }

        if (waiter is null || !waiter.IsOf(session.Connection))
        {
            Remove(waiter);
            link.PausedReader = waiter = new PausedReader(this, session.Connection);
        }

        return !Add(waiter);
    }

    /// <summary>The lane was found full. False: it has room after all.</summary>
    public bool Add(PausedReader waiter)
    {
        if (waiter.IsQueued)
        {
            return true; // Found full behind that: whoever makes room finds him here.
        }

        using (_gate.EnterScope())
        {
            waiter.Add(_readers);
        }

        if (!lane.MayRead())
        {
            return true;
        }

        // Room has come meanwhile, and nobody may have been here to be told.
        Remove(waiter);
        waiter.OnCapacityFound();
        return false;
    }

    /// <summary>Waits no more, wherever he stands: his connection is over.</summary>
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

    /// <summary>There may be room: the first are told. Outside of all locks.</summary>
    public void ResumeWaiters()
    {
        while (Next() is { } next)
        {
            next.BeginResume();
        }
    }

    /// <summary>The connection has done what it was told to.</summary>
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

    /// <summary>For how many there is room. If for none, the lane knows that somebody waits.</summary>
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
