using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Primitives;
using Microsoft.Extensions.ServiceDiscovery;
using Net.Zlink.Services;

namespace Net.Zlink.Extensions.ServiceDiscovery;

internal sealed class ZlinkEndpointProvider : IServiceEndpointProvider
{
    private readonly IServiceDirectory _directory;
    private readonly ServiceEndpointQuery _query;
    private readonly ILogger _logger;
    private readonly CancellationTokenSource _end = new();
    private readonly Task _following;
    private CancellationTokenSource _changed = new();

    public ZlinkEndpointProvider(IServiceDirectory directory, ServiceEndpointQuery query, ILogger logger)
    {
        _directory = directory;
        _query = query;
        _logger = logger;
        _following = Task.Run(FollowAsync);
    }

    public ValueTask PopulateAsync(IServiceEndpointBuilder endpoints, CancellationToken cancellationToken)
    {
        // The token before the snapshot: a change between the two fires it.
        endpoints.AddChangeToken(new CancellationChangeToken(Volatile.Read(ref _changed).Token));
        foreach (ServiceInstance instance in _directory.GetService(_query.ServiceName).Instances)
        {
            if (Uri.TryCreate(instance.Endpoint, UriKind.Absolute, out Uri? uri) && IsRequested(uri.Scheme))
            {
                endpoints.Endpoints.Add(ServiceEndpoint.Create(new UriEndPoint(uri)));
            }
        }

        return default;
    }

    public async ValueTask DisposeAsync()
    {
        await _end.CancelAsync().ConfigureAwait(false);
        await _following.ConfigureAwait(false);
    }

    private bool IsRequested(string scheme) =>
        _query.IncludedSchemes.Count == 0 || _query.IncludedSchemes.Contains(scheme, StringComparer.OrdinalIgnoreCase);

    private async Task FollowAsync()
    {
        try
        {
            await foreach (ServiceChange change in _directory.WatchAsync(_query.ServiceName, _end.Token).ConfigureAwait(false))
            {
                using CancellationTokenSource before = Interlocked.Exchange(ref _changed, new CancellationTokenSource());
                await before.CancelAsync().ConfigureAwait(false);
            }
        }
        catch (Exception) when (_end.IsCancellationRequested)
        {
        }
        catch (Exception e)
        {
            ServiceDiscoveryLog.FollowingFailed(_logger, e, _query.ServiceName);
        }
    }
}
