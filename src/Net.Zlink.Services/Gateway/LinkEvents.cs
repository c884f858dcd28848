using Net.Zlink.Monitoring;

namespace Net.Zlink.Services;

/// <summary>Passes the events of the socket to the links, in order, and takes the state from the peers where events were dropped.</summary>
internal sealed class LinkEvents(RouterSocket router, LinkTable links) : IDisposable
{
    private readonly SocketMonitor _monitor = router.OpenMonitor(LinkTable.Events);
    private long _dropped;

    public async ValueTask RunAsync(CancellationToken cancellationToken)
    {
        links.OnEvent(await _monitor.ReadAsync(cancellationToken).ConfigureAwait(false));
        if (_monitor.Dropped != _dropped)
        {
            _dropped = _monitor.Dropped;
            links.Reconcile(onlyInproc: false);
        }
    }

    public void Dispose() => _monitor.Dispose();
}

/// <summary>Looks at the peers over inproc again and again, as natively the socket has no events of them. Where there is no such link it
/// does nothing.</summary>
internal sealed class InprocPeerPoller : IDisposable
{
    private readonly LinkTable _links;
    private readonly ITimer _timer;
    private int _isRunning;

    public InprocPeerPoller(LinkTable links, TimeProvider clock)
    {
        _links = links;
        _timer = clock.CreateTimer(static state => ((InprocPeerPoller)state!).OnTick(), this, Timeout.InfiniteTimeSpan,
            Timeout.InfiniteTimeSpan);
    }

    /// <summary>The links have changed: looks now, and from now on if one of them is over inproc.</summary>
    public void Update()
    {
        if (_links.HasInproc)
        {
            OnTick();
            _timer.Change(InprocEndpoints.PollInterval, InprocEndpoints.PollInterval);
        }
    }

    public void Dispose() => _timer.Dispose();

    private void OnTick()
    {
        if (Interlocked.Exchange(ref _isRunning, 1) != 0)
        {
            return; // A look that takes longer than the interval is enough.
        }

        try
        {
            if (_links.HasInproc)
            {
                _links.Reconcile(onlyInproc: true);
            }
            else
            {
                _timer.Change(Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
            }
        }
        catch (Exception e) when (e is ObjectDisposedException or ZlinkException)
        {
            _timer.Dispose(); // The socket has ended.
        }
        finally
        {
            Volatile.Write(ref _isRunning, 0);
        }
    }
}
