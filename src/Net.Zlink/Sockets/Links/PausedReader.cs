using Net.Zlink.Engine;

namespace Net.Zlink.Sockets.Links;

/// <summary>A connection's entry in <see cref="PausedReaders"/>. As work of its shard it ends the resume that it was given.</summary>
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

    /// <param name="capacity">The queue that it waits in.</param>
    /// <param name="shard">The connection's shard.</param>
    /// <param name="resume">Posts that the connection may read.</param>
    public PausedReader(PausedReaders capacity, ShardLoop shard, Action resume)
    {
        _pausedReaders = capacity;
        _shard = shard;
        _resume = resume;
        _node = new LinkedListNode<PausedReader>(this);
    }

    /// <summary>It waits. Read without the queue's lock.</summary>
    public bool IsQueued => Volatile.Read(ref _isQueued);

    public bool IsOf(Connection connection) => ReferenceEquals(_resume.Target, connection);

    /// <summary>The connection found capacity. On its shard.</summary>
    public void OnCapacityFound()
    {
        if (Volatile.Read(ref _isResumePending)) // Usually no resume is pending, and nothing is written.
        {
            Volatile.Write(ref _isResumePending, false);
        }
    }

    /// <summary>Waits behind all others, or in front if its resume found no capacity. Under the queue's lock, as the next three.</summary>
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

    /// <summary>Returns the number of pending resumes. A second one may begin before the first has ended; both end together.</summary>
    public int EndResumes()
    {
        int turns = _resumes;
        _resumes = 0;
        Volatile.Write(ref _isResumePending, false);
        return turns;
    }

    /// <summary>Lets the connection read and posts the end of the resume behind that. Outside of all locks.</summary>
    public void BeginResume()
    {
        _resume();
        _shard.Post(this, 1);
    }

    internal override void Run(int reasons) => _pausedReaders.FinishResumes(this);

    internal override void OnFault(Exception exception)
    {
    }

    internal override string Describe() => "a read that resumes";
}
