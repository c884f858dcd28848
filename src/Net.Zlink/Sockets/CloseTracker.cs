namespace Net.Zlink.Sockets;

/// <summary>What has to end before a closed socket has: its connections, those in a handshake, whatever still delivers. Counts them, and
/// tells when the socket was closed and the last one is gone.</summary>
/// <remarks>Safe for any number of threads. Its lock comes last: nothing is called under it.</remarks>
internal sealed class CloseTracker
{
    private readonly Lock _gate = new();
    private readonly TaskCompletionSource _allClosed = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private int _count;
    private bool _isClosed;

    /// <summary>The socket was closed: nothing new begins.</summary>
    public bool IsClosed => Volatile.Read(ref _isClosed);

    /// <summary>Completes when the socket was closed and the last part is gone.</summary>
    public Task AllClosed => _allClosed.Task;

    /// <summary>One more. False if the socket is closed.</summary>
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

    /// <summary>As <see cref="TryEnter"/>, for something that is entered already and goes on while the socket lingers.</summary>
    public void Reenter()
    {
        lock (_gate)
        {
            _count++;
        }
    }

    /// <summary>A part has ended.</summary>
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

    /// <summary>Closes the socket. The call that does it is a part itself, until it leaves: what ends meanwhile is not the last
    /// thing.</summary>
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
