using Net.Zlink.Engine;

namespace Net.Zlink.Sockets.Pipes;

/// <summary>The connections that are not read because a lane that they share is full, first come, first served: as many are told of room as there is room for.</summary>
/// <remarks>
/// All of them at once, of which one finds room, cost 400 works of the shards for each message that was read, with 2,000 connections and a mark of 1.
/// <para>
/// Whoever is told has a turn. It ends behind his connection's own work, whatever that did: read and fill the lane, read what is nobody's business, find the room taken (then he stands in front again), end. The next one is told then, if there
/// is room. So nobody is forgotten: while somebody stands here, either a turn is out, or the lane was found full after he had come, and whoever makes room in it calls <see cref="Move"/>.
/// </para>
/// Order of locks: this one's, then the lane's.
/// </remarks>
/// <param name="lane">What they wait for.</param>
internal sealed class RoomLine(InboundLane lane)
{
    // Whatever the lane's mark says: more than the shards can work off at once, and, as each may bring a read of 64 KiB past the limits, 4 MiB.
    private const int MostTurns = 64;

    private readonly LinkedList<RoomWaiter> _line = [];
    private ShortLock _gate;
    private int _turns;
    private int _mark;

    /// <summary>How many messages the lane takes; 0: any number.</summary>
    public int Mark
    {
        set => Volatile.Write(ref _mark, value);
    }

    /// <summary>How many stand here.</summary>
    public int Count
    {
        get
        {
            using (_gate.Hold())
            {
                return _line.Count;
            }
        }
    }

    /// <summary>Whether a connection may read on. If not, it is resumed when there is room and its turn has come. On its shard.</summary>
    public bool MayRead(WirePipe pipe)
    {
        RoomWaiter? waiter = pipe.RoomWaiter;
        if (lane.MayRead())
        {
            waiter?.FindRoom();
            return true;
        }

        if (pipe.Session is not { } session)
        {
            return false; // In the handshake, behind which it asks again.
        }

        if (waiter is null || !waiter.IsOf(session.Connection))
        {
            Leave(waiter);
            pipe.RoomWaiter = waiter = new RoomWaiter(this, session.Connection);
        }

        return !Wait(waiter);
    }

    /// <summary>The lane was found full. False: it has room after all.</summary>
    public bool Wait(RoomWaiter waiter)
    {
        if (waiter.IsInLine)
        {
            return true; // Found full behind that: whoever makes room finds him here.
        }

        using (_gate.Hold())
        {
            waiter.Join(_line);
        }

        if (!lane.MayRead())
        {
            return true;
        }

        // Room has come meanwhile, and nobody may have been here to be told.
        Leave(waiter);
        waiter.FindRoom();
        return false;
    }

    /// <summary>Waits no more, wherever he stands: his connection is over.</summary>
    public void Leave(RoomWaiter? waiter)
    {
        if (waiter is { IsInLine: true })
        {
            using (_gate.Hold())
            {
                waiter.Leave(_line);
            }
        }
    }

    /// <summary>There may be room: the first are told. Outside of all locks.</summary>
    public void Move()
    {
        while (Next() is { } next)
        {
            next.BeginTurn();
        }
    }

    /// <summary>The connection has done what it was told to.</summary>
    public void EndTurns(RoomWaiter waiter)
    {
        using (_gate.Hold())
        {
            _turns -= waiter.EndTurns();
        }

        Move();
    }

    private RoomWaiter? Next()
    {
        using (_gate.Hold())
        {
            if (_line.First is not { } first || _turns >= MostTurns || _turns >= Room())
            {
                return null;
            }

            _turns++;
            first.Value.TakeTurn(_line);
            return first.Value;
        }
    }

    /// <summary>For how many there is room. If for none, the lane knows that somebody waits.</summary>
    private long Room()
    {
        if (!lane.MayRead())
        {
            return 0;
        }

        int mark = Volatile.Read(ref _mark);
        return mark == 0 ? MostTurns : Math.Max(1, mark - lane.Counts.QueuedMessages);
    }
}
