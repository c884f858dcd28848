namespace Net.Zlink.Transports;

/// <summary>How long a handshake has waited for its peer, its waits together: for bytes to come, or for room for its own. What it does
/// itself, callbacks of the application's included, does not count.</summary>
/// <remarks>All of them, so that a peer which sends a byte now and then gains nothing. One thread at a time begins and ends waits; any may
/// ask.</remarks>
internal sealed class PeerWait(TimeProvider time)
{
    private readonly Lock _gate = new(); // A wait's end and the sum belong together; a handshake has five waits or so.
    private TimeSpan _before;
    private long _began;
    private bool _isWaiting;

    /// <summary>Whether it waits now.</summary>
    public bool IsWaiting
    {
        get
        {
            lock (_gate)
            {
                return _isWaiting;
            }
        }
    }

    /// <summary>So far.</summary>
    public TimeSpan Total
    {
        get
        {
            lock (_gate)
            {
                return _isWaiting ? _before + time.GetElapsedTime(_began) : _before;
            }
        }
    }

    /// <summary>A wait begins.</summary>
    public void Begin()
    {
        lock (_gate)
        {
            (_began, _isWaiting) = (time.GetTimestamp(), true);
        }
    }

    /// <summary>It is over.</summary>
    public void End()
    {
        lock (_gate)
        {
            _before += time.GetElapsedTime(_began);
            _isWaiting = false;
        }
    }
}
