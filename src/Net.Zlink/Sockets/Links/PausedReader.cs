using Net.Zlink.Engine;

namespace Net.Zlink.Sockets.Links;

/// <summary>A connection's place in a <see cref="PausedReaders"/>; posted to its shard, the end of the turn that it was given
/// there.</summary>
internal sealed class PausedReader : ShardWork
{
    private readonly PausedReaders _pausedReaders;
    private readonly ShardLoop _shard;
    private readonly Action _resume;
    private readonly LinkedListNode<PausedReader> _node;
    private int _resumes;
    private bool _isQueued;
    private bool _isResumePending;

    public PausedReader(PausedReaders capacity, Connection connection)
        : this(capacity, connection.Shard, connection.Resume)
    {
    }

    /// <param name="capacity">Where it stands.</param>
    /// <param name="shard">Where the connection is read.</param>
    /// <param name="resume">Posts that it may read on.</param>
    public PausedReader(PausedReaders capacity, ShardLoop shard, Action resume)
    {
        _pausedReaders = capacity;
        _shard = shard;
        _resume = resume;
        _node = new LinkedListNode<PausedReader>(this);
    }

    /// <summary>Stands in line. Without the line's lock: a moment ago.</summary>
    public bool IsQueued => Volatile.Read(ref _isQueued);

    public bool IsOf(Connection connection) => ReferenceEquals(_resume.Target, connection);

    /// <summary>What it was told has come true. On its shard.</summary>
    public void OnCapacityFound()
    {
        if (Volatile.Read(ref _isResumePending)) // As a rule it was not told at all: nothing is written.
        {
            Volatile.Write(ref _isResumePending, false);
        }
    }

    /// <summary>Stands in line: behind all others, unless it had come to its turn and found the room taken. Under the line's lock, as the
    /// next three.</summary>
    public void Add(LinkedList<PausedReader> list)
    {
        if (_isQueued)
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

        Volatile.Write(ref _isQueued, true);
    }

    public void Remove(LinkedList<PausedReader> list)
    {
        if (_isQueued)
        {
            list.Remove(_node);
            Volatile.Write(ref _isQueued, false);
        }
    }

    public void TryResume(LinkedList<PausedReader> list)
    {
        _resumes++;
        Volatile.Write(ref _isResumePending, true);
        Remove(list);
    }

    /// <summary>How many it was given since: it may have come to the front again before the end of one was worked off, and both end as
    /// one.</summary>
    public int EndResumes()
    {
        int turns = _resumes;
        _resumes = 0;
        Volatile.Write(ref _isResumePending, false);
        return turns;
    }

    /// <summary>Lets the connection read, and comes back behind that. Outside of all locks.</summary>
    public void BeginResume()
    {
        _resume();
        _shard.Post(this, 1);
    }

    internal override void Run(int reasons) => _pausedReaders.FinishResumes(this);

    internal override void OnFault(Exception exception)
    {
    }

    internal override string Describe() => "a turn in a line for room";
}
