using Net.Zlink.Engine;

namespace Net.Zlink.Sockets.Links;

internal sealed class PausedReader : ShardWork
{
    private readonly PausedReaders _pausedReaders;
    private readonly ShardLoop _shard;
    private readonly Action _resume;
    private readonly LinkedListNode<PausedReader> _node;
    private int _resumes;
    private bool _isQueued;
    private bool _isResumePending;

    public PausedReader(PausedReaders readers, Connection connection)
        : this(readers, connection.Shard, connection.Resume)
    {
    }

    public PausedReader(PausedReaders readers, ShardLoop shard, Action resume)
    {
        _pausedReaders = readers;
        _shard = shard;
        _resume = resume;
        _node = new LinkedListNode<PausedReader>(this);
    }

    public bool IsQueued => Volatile.Read(ref _isQueued);

    public bool IsOf(Connection connection) => ReferenceEquals(_resume.Target, connection);

    public void OnCapacityFound()
    {
        if (Volatile.Read(ref _isResumePending))
        {
            Volatile.Write(ref _isResumePending, false);
        }
    }

    /// <summary>Under the queue's lock, as the next three.</summary>
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

    internal override void Run(int reasons) => _pausedReaders.FinishResumes(this);

    internal override void OnFault(Exception exception)
    {
    }

    internal override string Describe() => "a read that resumes";
}
