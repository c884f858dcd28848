using Microsoft.Extensions.Logging;

namespace Net.Zlink.Services;

/// <summary>Keeps a node connected to what a directory lists under one service, until it is disposed. When the directory ends, its last
/// list stays.</summary>
internal sealed class DirectoryFollower : IDisposable
{
    private readonly PeerSet _peers;
    private readonly TimeSpan _keepTime;
    private readonly RoutingId _ownId;
    private readonly ILogger _logger;
    private readonly CancellationTokenSource _stop = new();

    /// <param name="peers">What the node is connected to.</param>
    /// <param name="directory">Lists the nodes.</param>
    /// <param name="service">Under this name.</param>
    /// <param name="ownId">The node's own.</param>
    /// <param name="keepTime">How long a connection that works stays when its endpoint is listed no more.</param>
    /// <param name="logger">Logs the end of the directory.</param>
    public DirectoryFollower(
        PeerSet peers, IServiceDirectory directory, string service, RoutingId ownId, TimeSpan keepTime, ILogger logger)
    {
        _peers = peers;
        _keepTime = keepTime;
        _ownId = ownId;
        _logger = logger;
        SetListed(directory.GetService(service));
        _ = Task.Run(() => FollowAsync(directory, service));
    }

    public void Dispose()
    {
        _stop.Cancel();
        _peers.RemoveListed(this);
    }

    private async Task FollowAsync(IServiceDirectory directory, string service)
    {
        try
        {
            await foreach (ServiceChange change in directory.WatchAsync(service, _stop.Token).ConfigureAwait(false))
            {
                SetListed(change.After);
                if (_stop.IsCancellationRequested)
                {
                    _peers.RemoveListed(this); // It was disposed meanwhile.
                }
            }
        }
        catch (Exception) when (_stop.IsCancellationRequested)
        {
            // It was disposed.
        }
        catch (Exception e)
        {
            SpotLog.DirectoryFailed(_logger, e);
        }
    }

    /// <summary>All but the node itself, which is listed with its own id, and entries without an endpoint, as in the native core.</summary>
    private void SetListed(ServiceSnapshot snapshot) => _peers.SetListed(
        this, snapshot.Instances.Where(instance => instance.Endpoint.Length > 0 && instance.RoutingId != _ownId)
            .Select(static instance => instance.Endpoint), _ => _keepTime);
}
