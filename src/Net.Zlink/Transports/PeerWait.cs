namespace Net.Zlink.Transports;

/// <summary>
/// How long a handshake has waited for its peer in total, so that a peer gains nothing by a byte now and then. The handshake's own work,
/// with the application's callbacks, does not count.
/// </summary>
internal sealed class PeerWait(TimeProvider time)
{
    private readonly Lock _gate = new();
    private TimeSpan _before;
    private long _began;
    private bool _isWaiting;

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

    public void Begin()
    {
        lock (_gate)
        {
            (_began, _isWaiting) = (time.GetTimestamp(), true);
        }
    }

    public void End()
    {
        lock (_gate)
        {
            _before += time.GetElapsedTime(_began);
            _isWaiting = false;
        }
    }
}
