using Net.Zlink.Monitoring;

namespace Net.Zlink.Services;

/// <summary>Passes the events of the socket to the links, in order, and takes the state from the peers where events were dropped.</summary>
internal sealed class LinkEvents(RouterSocket router, LinkTable links) : IDisposable
{
    private readonly SocketMonitor _monitor = router.OpenMonitor(LinkTable.Events);
    private long _dropped;

    /// <summary>Reads until the socket ends.</summary>
    public async ValueTask RunAsync(CancellationToken cancellationToken)
    {
        while (!cancellationToken.IsCancellationRequested)
        {
            SocketEvent socketEvent = await _monitor.ReadAsync(cancellationToken).ConfigureAwait(false);
            links.OnEvent(socketEvent);
            if (_monitor.Dropped != _dropped)
            {
                _dropped = _monitor.Dropped;
                links.Reconcile(onlyInproc: false);
            }
        }
    }

    public void Dispose() => _monitor.Dispose();
}
