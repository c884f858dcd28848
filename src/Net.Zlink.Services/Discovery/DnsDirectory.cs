using System.Collections.Immutable;
using System.Net;
using System.Net.Sockets;
using Microsoft.Extensions.Logging;

namespace Net.Zlink.Services;

/// <summary>Finds services by DNS: each address of a host name is one instance. Made for a Kubernetes headless service.</summary>
/// <remarks>
/// Safe for any number of threads. Each name is asked again every <see cref="DnsDirectoryOptions.RefreshInterval"/>, on the context's
/// <see cref="ZlinkContextOptions.TimeProvider"/>. A query that fails, or finds no address, changes nothing and is a warning in the log:
/// gateways leave out receivers that they cannot reach. Dispose the gateways that follow it first.
/// </remarks>
/// <example>
/// <code>
/// await using var directory = new DnsDirectory(context);
/// directory.AddService("quotes", "quotes.shop.svc.cluster.local", 5555);
/// await using var gateway = new ServiceGateway(context, directory);
/// </code>
/// </example>
public sealed class DnsDirectory : IServiceDirectory, IAsyncDisposable, IDisposable
{
    private readonly Lock _gate = new();
    private readonly DnsDirectoryOptions _options;
    private readonly ILogger _logger;
    private readonly TimeProvider _clock;
    private readonly StaticDirectory _found;
    private readonly Dictionary<string, BackgroundLoop> _loops = new(StringComparer.Ordinal);
    private bool _isDisposed;

    /// <summary>Makes a directory without services.</summary>
    /// <param name="context">Gives the clock and the log.</param>
    /// <param name="options">The options; null: the defaults.</param>
    /// <exception cref="ArgumentNullException"><paramref name="context"/> is null.</exception>
    /// <exception cref="ArgumentException">An option is out of its range; the message names it.</exception>
    public DnsDirectory(ZlinkContext context, DnsDirectoryOptions? options = null)
    {
        ArgumentNullException.ThrowIfNull(context);
        _options = (options ?? new DnsDirectoryOptions()).ValidCopy();

        _clock = context.TimeProvider;
        _logger = context.LoggerFactory.CreateLogger(ServicesLog.Category);
        _found = new StaticDirectory(_clock);
    }

    /// <summary>Begins to ask for a host name, at once and in the background.</summary>
    /// <param name="service">The name that gateways use.</param>
    /// <param name="host">The host name that DNS knows.</param>
    /// <param name="port">The port of all its instances, 1 to 65535.</param>
    /// <exception cref="ArgumentException">A name is null or empty.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The port is outside its range.</exception>
    /// <exception cref="InvalidOperationException">The service was added before.</exception>
    /// <exception cref="ObjectDisposedException">The directory is disposed.</exception>
    public void AddService(string service, string host, int port)
    {
        ArgumentException.ThrowIfNullOrEmpty(service);
        ArgumentException.ThrowIfNullOrEmpty(host);
        ArgumentOutOfRangeException.ThrowIfLessThan(port, 1);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(port, ushort.MaxValue);
        lock (_gate)
        {
            ObjectDisposedException.ThrowIf(_isDisposed, this);
            if (_loops.ContainsKey(service))
            {
                throw new InvalidOperationException($"{service} was added before.");
            }

            var queries = new Queries(this, service, host, port);
            _loops.Add(service, BackgroundLoop.Start($"DNS queries of {host}", _logger, _clock, queries.RunTurnAsync));
        }
    }

    /// <inheritdoc/>
    /// <exception cref="ArgumentNullException"><paramref name="service"/> is null.</exception>
    public ServiceSnapshot GetService(string service) => _found.GetService(service);

    /// <inheritdoc/>
    public IAsyncEnumerable<ServiceChange> WatchAsync(string? service = null, CancellationToken cancellationToken = default) =>
        _found.WatchAsync(service, cancellationToken);

    /// <summary>Ends the queries and the enumerations. Those who follow the directory keep their last snapshot. Idempotent.</summary>
    /// <returns>Complete when no query runs any more.</returns>
    public async ValueTask DisposeAsync()
    {
        BackgroundLoop[] loops;
        lock (_gate)
        {
            _isDisposed = true;
            loops = [.. _loops.Values];
        }

        await Task.WhenAll(loops.Select(static loop => loop.DisposeAsync().AsTask())).ConfigureAwait(false);
        _found.Complete();
    }

    /// <summary>As <see cref="DisposeAsync"/>, and returns at once.</summary>
    public void Dispose() => _ = DisposeAsync().AsTask();

    /// <summary>The queries for one service. A failed one leaves what the last good one found.</summary>
    private sealed class Queries(DnsDirectory directory, string service, string host, int port)
    {
        // No name that a program should follow has more; a forged answer must not make thousands of connections.
        private const int MaxAddresses = 1_000;

        private readonly DnsDirectoryOptions _options = directory._options;
        private bool _hasFailed;

        public async ValueTask RunTurnAsync(CancellationToken cancellation)
        {
            try
            {
                using var limit = new CancellationTokenSource(_options.QueryTimeout, directory._clock);
                using var either = CancellationTokenSource.CreateLinkedTokenSource(limit.Token, cancellation);
                IPAddress[] addresses = await (_options.Resolve ?? Dns.GetHostAddressesAsync)(host, either.Token)
                    .WaitAsync(either.Token).ConfigureAwait(false);
                Accept(addresses);
            }
            catch (Exception e) when (!cancellation.IsCancellationRequested)
            {
                if (!_hasFailed)
                {
                    ServicesLog.QueryFailed(directory._logger, e, host, service);
                }

                _hasFailed = true;
            }

            await Task.Delay(_options.RefreshInterval, directory._clock, cancellation).ConfigureAwait(false);
        }

        private void Accept(IPAddress[] addresses)
        {
            ImmutableArray<ServiceInstance> instances =
            [
                .. addresses.Where(_options.Filter ?? (static _ => true)).Take(MaxAddresses)
                    .Select(address => new ServiceInstance(service, EndpointOf(address))),
            ];
            if (instances.IsEmpty)
            {
                throw new SocketException((int)SocketError.NoData); // The same as what most systems report for a name without addresses.
            }

            directory._found.SetService(service, instances);
            if (_hasFailed)
            {
                ServicesLog.QueryWorksAgain(directory._logger, host, service, instances.Length);
            }

            _hasFailed = false;
        }

        private string EndpointOf(IPAddress address) => address.AddressFamily == AddressFamily.InterNetworkV6
            ? $"{_options.Transport}://[{address}]:{port}"
            : $"{_options.Transport}://{address}:{port}";
    }
}
