namespace Net.Zlink.Sockets;

/// <summary>
/// Counts what must end before a closed socket has ended: connections, handshakes, deliveries. Completes <see cref="AllClosed"/> after the
/// last of them.
/// </summary>
/// <remarks>Thread-safe. Its lock is the last in the order: nothing is called under it.</remarks>
internal sealed class CloseTracker
{
    private readonly Lock _gate = new();
    private readonly TaskCompletionSource _allClosed = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private int _count;
    private bool _isClosed;

    public bool IsClosed => Volatile.Read(ref _isClosed);

    /// <summary>Completes when the socket is closed and every part has left.</summary>
    public Task AllClosed => _allClosed.Task;

    /// <summary>Adds a part. False if the socket is closed.</summary>
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

    /// <summary>Adds a part that goes on while the socket lingers.</summary>
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

    /// <summary>
    /// Closes the socket. The caller becomes a part until it leaves, so <see cref="AllClosed"/> cannot complete before that.
    /// </summary>
    /// <returns>False if it was closed before.</returns>
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
