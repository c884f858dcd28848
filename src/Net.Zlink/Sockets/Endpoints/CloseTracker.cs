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

    /// <summary>Called once, by the thread on which the last part leaves, outside of the tracker's lock.</summary>
    public Action? Closed { get; set; }

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
            if (!_isClosed || _count > 0)
            {
                return;
            }
        }

        if (_allClosed.TrySetResult())
        {
            Closed?.Invoke();
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
