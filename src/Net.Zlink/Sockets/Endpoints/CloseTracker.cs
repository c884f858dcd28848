namespace Net.Zlink.Sockets.Endpoints;

/// <summary>The tracker's lock is the last in the order: nothing is called under it.</summary>
internal sealed class CloseTracker
{
    private readonly Lock _gate = new();
    private readonly TaskCompletionSource _allClosed = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private int _count;
    private bool _isClosed;

    public bool IsClosed => Volatile.Read(ref _isClosed);

    public Task AllClosed => _allClosed.Task;

    public bool TryEnter()
    {
        lock (_gate)
        {
            if (_isClosed)
            {
                return false;
            }

            _count++;
            return true;
        }
    }

    public void Reenter()
    {
        lock (_gate)
        {
            _count++;
        }
    }

    public void Leave()
    {
        lock (_gate)
        {
            _count--;
            if (_isClosed && _count == 0)
            {
                _allClosed.TrySetResult();
            }
        }
    }

    /// <summary>The caller becomes a part until it leaves, so <see cref="AllClosed"/> cannot complete before that.</summary>
    public bool TryClose()
    {
        lock (_gate)
        {
            if (_isClosed)
            {
                return false;
            }

            Volatile.Write(ref _isClosed, true);
            _count++;
            return true;
        }
    }
}
