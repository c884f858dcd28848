using System.Collections.Immutable;
using System.Net;
using System.Net.Sockets;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.ServiceDiscovery;
using Net.Zlink.Services;

namespace Net.Zlink.Extensions.ServiceDiscovery;

/// <summary>Finds services with Microsoft.Extensions.ServiceDiscovery: in configuration, in what Aspire passes, or by another of its
/// providers.</summary>
/// <remarks>
/// <para>
/// Safe for any number of threads. A service is resolved as <c>tcp://name</c> from the moment at which a gateway or follower first asks for
/// it, and again when the provider reports a change. When resolving fails, the last instances stay, and the log has a warning.
/// </para>
/// <para>
/// Endpoints with a scheme keep it; of those without one <see cref="ServiceDiscoveryDirectoryOptions.Transport"/> becomes it. Endpoints
/// without a port are left out.
/// </para>
/// </remarks>
/// <example>
/// <code>
/// // appsettings.json: "Services": { "orders": { "tcp": [ "10.0.0.1:5555", "10.0.0.2:5555" ] } }
/// await using var directory = new ServiceDiscoveryDirectory(context, provider.GetRequiredService&lt;ServiceEndpointResolver&gt;());
/// await using var gateway = new ServiceGateway(context, directory);
/// </code>
/// </example>
public sealed class ServiceDiscoveryDirectory : IServiceDirectory, IAsyncDisposable, IDisposable
{
    private readonly Lock _gate = new();
    private readonly ServiceEndpointResolver _resolver;
    private readonly ServiceDiscoveryDirectoryOptions _options;
    private readonly TimeProvider _clock;
    private readonly ILogger _logger;
    private readonly StaticDirectory _found;
    private readonly CancellationTokenSource _end = new();
    private readonly Dictionary<string, Task> _services = new(StringComparer.Ordinal);
    private bool _isDisposed;

    /// <summary>Makes a directory that resolves nothing yet.</summary>
    /// <param name="context">Gives the clock and the log.</param>
    /// <param name="resolver">The resolver of the container. The directory does not own it.</param>
    /// <param name="options">The options; null: the defaults.</param>
    /// <exception cref="ArgumentNullException">The context or the resolver is null.</exception>
    /// <exception cref="ArgumentException">An option is out of its range; the message names it.</exception>
    public ServiceDiscoveryDirectory(
        ZlinkContext context, ServiceEndpointResolver resolver, ServiceDiscoveryDirectoryOptions? options = null)
    {
        ArgumentNullException.ThrowIfNull(context);
        ArgumentNullException.ThrowIfNull(resolver);
        _options = (options ?? new ServiceDiscoveryDirectoryOptions()).ValidCopy();
        _resolver = resolver;
        _clock = context.TimeProvider;
        _logger = context.LoggerFactory.CreateLogger<ServiceDiscoveryDirectory>();
        _found = new StaticDirectory(_clock);
    }

    /// <inheritdoc/>
    /// <remarks>Its endpoints are those of the configuration.</remarks>
    public DirectoryTrust Trust => DirectoryTrust.Application;

    /// <inheritdoc/>
    /// <remarks>The first call for a service begins to resolve it, in the background.</remarks>
    /// <exception cref="ArgumentException"><paramref name="service"/> is null or empty.</exception>
    public ServiceSnapshot GetService(string service)
    {
        Begin(service);
        return _found.GetService(service);
    }

    /// <inheritdoc/>
    /// <remarks>All services are those that somebody has asked for.</remarks>
    public IAsyncEnumerable<ServiceChange> WatchAsync(string? service = null, CancellationToken cancellationToken = default)
    {
        if (service is not null)
        {
            Begin(service);
        }

        return _found.WatchAsync(service, cancellationToken);
    }

    /// <summary>Ends the resolving and the enumerations. Those who follow the directory keep their last snapshot. Idempotent.</summary>
    /// <returns>Complete when nothing is resolved any more.</returns>
    public async ValueTask DisposeAsync()
    {
        Task[] running;
        lock (_gate)
        {
            _isDisposed = true;
            running = [.. _services.Values];
        }

        await _end.CancelAsync().ConfigureAwait(false);
        await Task.WhenAll(running).ConfigureAwait(false);
        _found.Complete();
    }

    /// <summary>As <see cref="DisposeAsync"/>, and returns at once.</summary>
    public void Dispose() => _ = DisposeAsync().AsTask();

    private void Begin(string service)
    {
        ArgumentException.ThrowIfNullOrEmpty(service);
        lock (_gate)
        {
            if (!_isDisposed && !_services.ContainsKey(service))
            {
                _services.Add(service, Task.Run(() => FollowAsync(service, _end.Token)));
            }
        }
    }

    private async Task FollowAsync(string service, CancellationToken cancellation)
    {
        bool hasFailed = false;
        while (!cancellation.IsCancellationRequested)
        {
            var changed = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            IDisposable? registration = null;
            try
            {
                ServiceEndpointSource source = await _resolver.GetEndpointsAsync($"{_options.Transport}://{service}", cancellation)
                    .ConfigureAwait(false);
                _found.SetService(service, Instances(service, source));
                registration = source.ChangeToken.RegisterChangeCallback(
                    static state => ((TaskCompletionSource)state!).TrySetResult(), changed);
                hasFailed = false;
            }
            catch (Exception e) when (!cancellation.IsCancellationRequested)
            {
                if (!hasFailed)
                {
                    ServiceDiscoveryLog.ResolvingFailed(_logger, e, service);
                }

                hasFailed = true;
            }
            catch (Exception)
            {
                return;
            }

            // The timer also keeps the resolver from dropping a service that nobody has asked for lately.
            await changed.Task.WaitAsync(_options.RefreshInterval, _clock, cancellation)
                .ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            registration?.Dispose();
        }
    }

    private ImmutableArray<ServiceInstance> Instances(string service, ServiceEndpointSource source) =>
    [
        .. source.Endpoints.Select(endpoint => EndpointOf(endpoint.EndPoint)).OfType<string>()
            .Select(endpoint => new ServiceInstance(service, endpoint)),
    ];

    private string? EndpointOf(EndPoint endpoint) => endpoint switch
    {
        UriEndPoint { Uri: { Port: > 0 } uri } => $"{uri.Scheme}://{uri.Authority}{(uri.AbsolutePath is "/" ? "" : uri.AbsolutePath)}",
        DnsEndPoint { Port: > 0 } name => $"{_options.Transport}://{name.Host}:{name.Port}",
        IPEndPoint { Port: > 0, AddressFamily: AddressFamily.InterNetworkV6 } address =>
            $"{_options.Transport}://[{address.Address}]:{address.Port}",
        IPEndPoint { Port: > 0 } address => $"{_options.Transport}://{address.Address}:{address.Port}",
        _ => null,
    };
}
