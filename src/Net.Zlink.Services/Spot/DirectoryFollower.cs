using Microsoft.Extensions.Logging;

namespace Net.Zlink.Services;

/// <summary>Keeps a node connected to what a directory lists under one service, until it is disposed. When the directory ends, its last
/// list stays.</summary>
internal sealed class DirectoryFollower : IDisposable
{
    private readonly PeerSet _peers;
    private readonly IServiceDirectory _directory;
    private readonly DirectoryEndpointFilter _filter;
    private readonly SpotNodeOptions _options;
    private readonly RoutingId _ownId;
    private readonly ILogger _logger;
    private readonly CancellationTokenSource _stop = new();

    // While it is listed, an endpoint is decided about once: why it is not connected; null: it is.
    private Dictionary<string, string?> _refusals = new(StringComparer.Ordinal);

    /// <param name="peers">What the node is connected to.</param>
    /// <param name="directory">Lists the nodes.</param>
    /// <param name="service">Under this name.</param>
    /// <param name="ownId">The node's own.</param>
    /// <param name="filter">Decides what may be connected.</param>
    /// <param name="options">How long a connection that works stays when its endpoint is listed no more.</param>
    /// <param name="logger">Logs refusals and the end of the directory.</param>
    public DirectoryFollower(PeerSet peers, IServiceDirectory directory, string service, RoutingId ownId,
        DirectoryEndpointFilter filter, SpotNodeOptions options, ILogger logger)
    {
        _peers = peers;
        _directory = directory;
        _filter = filter;
        _options = options;
        _ownId = ownId;
        _logger = logger;
        SetListed(directory.GetService(service));
        _ = Task.Run(() => FollowAsync(service));
    }

    public void Dispose()
    {
        _stop.Cancel();
        _peers.RemoveListed(this);
    }

    private async Task FollowAsync(string service)
    {
        try
        {
            await foreach (ServiceChange change in _directory.WatchAsync(service, _stop.Token).ConfigureAwait(false))
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
    private void SetListed(ServiceSnapshot snapshot)
    {
        var refusals = new Dictionary<string, string?>(StringComparer.Ordinal);
        foreach (ServiceInstance instance in snapshot.Instances)
        {
            string endpoint = instance.Endpoint;
            if (endpoint.Length == 0 || instance.RoutingId == _ownId || refusals.ContainsKey(endpoint))
            {
                continue;
            }

            if (!_refusals.TryGetValue(endpoint, out string? why) && (why = _filter.WhyRefused(endpoint, _directory.Trust)) is not null)
            {
                SpotLog.PeerUnusable(_logger, endpoint, why);
            }

            refusals.Add(endpoint, why);
        }

        _refusals = refusals;
        _peers.SetListed(this, refusals, endpoint => KeepTime(snapshot.Service, endpoint));
    }

    private TimeSpan KeepTime(string service, string endpoint) =>
        _directory is IKnowsRemovals directory && directory.IsRemoved(service, endpoint)
            ? _options.RemovedEndpointTimeout : _options.ForgottenEndpointTimeout;
}
