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
/// await using var gateway = new Gateway(context, directory);
/// </code>
/// </example>
public sealed class DnsDirectory : IServiceDirectory, IAsyncDisposable
{
    private static readonly string[] Transports = ["tcp", "tls", "ws", "wss"];

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
    /// <exception cref="ArgumentOutOfRangeException">A time of the options is zero or negative.</exception>
    /// <exception cref="ArgumentException">The options have another transport.</exception>
    public DnsDirectory(ZlinkContext context, DnsDirectoryOptions? options = null)
    {
        ArgumentNullException.ThrowIfNull(context);
        _options = options ?? new DnsDirectoryOptions();
        ArgumentOutOfRangeException.ThrowIfLessThanOrEqual(_options.RefreshInterval, TimeSpan.Zero, nameof(options));
        ArgumentOutOfRangeException.ThrowIfLessThanOrEqual(_options.QueryTimeout, TimeSpan.Zero, nameof(options));
        if (!Transports.Contains(_options.Transport, StringComparer.Ordinal))
        {
            throw new ArgumentException(
                $"The transport is one of {string.Join(", ", Transports)}, not {_options.Transport}.", nameof(options));
        }

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

            var queries = new DnsService(service, host, port, _options, _clock, _logger, _found);
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

        foreach (BackgroundLoop loop in loops)
        {
            loop.Stop();
        }

        foreach (BackgroundLoop loop in loops)
        {
            await loop.Completion.ConfigureAwait(false);
        }

        _found.Complete();
    }
}
