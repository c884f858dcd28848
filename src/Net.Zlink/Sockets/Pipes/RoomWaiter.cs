using Net.Zlink.Engine;

namespace Net.Zlink.Sockets.Pipes;

/// <summary>A connection's place in a <see cref="RoomLine"/>; posted to its shard, the end of the turn that it was given there.</summary>
internal sealed class RoomWaiter : ShardWork
{
    private readonly RoomLine _room;
    private readonly ShardLoop _shard;
    private readonly Action _resume;
    private readonly LinkedListNode<RoomWaiter> _node;
    private int _turns;
    private bool _isInLine;
    private bool _isToldInVain;

    public RoomWaiter(RoomLine room, Connection connection)
        : this(room, connection.Shard, connection.Resume)
    {
    }

    /// <param name="room">Where it stands.</param>
    /// <param name="shard">Where the connection is read.</param>
    /// <param name="resume">Posts that it may read on.</param>
    public RoomWaiter(RoomLine room, ShardLoop shard, Action resume)
    {
        _room = room;
        _shard = shard;
        _resume = resume;
        _node = new LinkedListNode<RoomWaiter>(this);
    }

    /// <summary>Stands in line. Without the line's lock: a moment ago.</summary>
    public bool IsInLine => Volatile.Read(ref _isInLine);

    public bool IsOf(Connection connection) => ReferenceEquals(_resume.Target, connection);

    /// <summary>What it was told has come true. On its shard.</summary>
    public void FindRoom()
    {
        if (Volatile.Read(ref _isToldInVain)) // As a rule it was not told at all: nothing is written.
        {
            Volatile.Write(ref _isToldInVain, false);
        }
    }

    /// <summary>Stands in line: behind all others, unless it had come to its turn and found the room taken. Under the line's lock, as the next three.</summary>
    public void Join(LinkedList<RoomWaiter> line)
    {
        if (_isInLine)
        {
            return;
        }

        if (_isToldInVain)
        {
            line.AddFirst(_node);
        }
        else
        {
            line.AddLast(_node);
        }

        Volatile.Write(ref _isInLine, true);
    }

    public void Leave(LinkedList<RoomWaiter> line)
    {
        if (_isInLine)
        {
            line.Remove(_node);
            Volatile.Write(ref _isInLine, false);
        }
    }

    public void TakeTurn(LinkedList<RoomWaiter> line)
    {
        _turns++;
        Volatile.Write(ref _isToldInVain, true);
        Leave(line);
    }

    /// <summary>How many it was given since: it may have come to the front again before the end of one was worked off, and both end as one.</summary>
    public int EndTurns()
    {
        int turns = _turns;
        _turns = 0;
        Volatile.Write(ref _isToldInVain, false);
        return turns;
    }

    /// <summary>Lets the connection read, and comes back behind that. Outside of all locks.</summary>
    public void BeginTurn()
    {
        _resume();
        _shard.Post(this, 1);
    }

    internal override void Run(int reasons) => _room.EndTurns(this);

    internal override void OnFault(Exception exception)
    {
    }

    internal override string Describe() => "a turn in a line for room";
}
