using System.Collections.Immutable;
using System.Globalization;
using System.Text;
using Microsoft.Extensions.Logging;
using Net.Zlink.Monitoring;

namespace Net.Zlink.Services;

/// <summary>Knows from registries where services are: one view for each registry, shown as their union.</summary>
/// <remarks>Safe for any number of threads. If the last connected registry is lost, its entries are kept; the gateways' own connections
/// show which receivers are alive.</remarks>
/// <example>
/// <code>
/// await using var discovery = new RegistryDirectory(context);
/// discovery.ConnectRegistry("tcp://registry:5560");
/// ServiceSnapshot echo = await discovery.WaitForAsync("echo");
/// </code>
/// </example>
public sealed class RegistryDirectory : IServiceDirectory, IFollowedLists, IKnowsRemovals, IAsyncDisposable, IDisposable
{
    private const int BatchSize = 64;

    private readonly TimeProvider _clock;
    private readonly ILogger _logger;
    private readonly FollowedLists _ofContext;
    private readonly long _start;
    private readonly Lock _gate = new();
    private readonly SubSocket _socket;
    private readonly ViewStore _store;
    private readonly ServiceWatchers _watchers;
    private readonly MeteredObjects<RegistryDirectory> _metered;
    private readonly BackgroundLoop _loop;
    private readonly IDisposable _events;
    private readonly ITimer _timer;
    private readonly Message[] _batch = new Message[BatchSize];
    private ImmutableHashSet<string> _filter = ImmutableHashSet.Create<string>(StringComparer.Ordinal);
    private readonly HashSet<string> _endpoints = new(StringComparer.Ordinal);
    private readonly HashSet<string> _notTaken = new(StringComparer.Ordinal);
    private bool _isDisposed;

    /// <summary>A discovery without registries.</summary>
    /// <param name="context">Makes its socket. Dispose the discovery before it.</param>
    /// <param name="kind">What it looks for: receivers, or SPOT nodes.</param>
    /// <param name="options">Its options; null: the defaults.</param>
    /// <exception cref="ArgumentNullException"><paramref name="context"/> is null.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The kind is none that registries list, or a time of the options is
    /// negative.</exception>
    /// <exception cref="ZlinkException">TooManySockets. ContextTerminated.</exception>
    /// <exception cref="ObjectDisposedException">The context is disposed.</exception>
    public RegistryDirectory(ZlinkContext context, ServiceKind kind = ServiceKind.Receiver, RegistryDirectoryOptions? options = null)
    {
        ArgumentNullException.ThrowIfNull(context);
        if (kind is not (ServiceKind.Receiver or ServiceKind.SpotNode))
        {
            throw new ArgumentOutOfRangeException(nameof(kind), kind, "Registries list receivers and SPOT nodes.");
        }

        options = (options ?? new RegistryDirectoryOptions()).ValidCopy();
        Kind = kind;
        _clock = context.TimeProvider;
        _logger = context.LoggerFactory.CreateLogger(ServicesLog.Category);
        _ofContext = FollowedLists.Of(context);
        _start = _clock.GetTimestamp();
        _store = new ViewStore(kind, options.StaleViewTimeout, options.RestartTimeout);
        _watchers = new ServiceWatchers(GetService, () => _store.Services.Keys);
        _socket = context.CreateSub(options.Socket);
        _socket.Subscribe("");
        _timer = _clock.CreateTimer(static state => ((RegistryDirectory)state!).OnTimer(), this, Timeout.InfiniteTimeSpan,
            Timeout.InfiniteTimeSpan);
        _events = _socket.OnEvent(SocketEventTypes.Disconnected, OnDisconnected);
        _metered = ServicesMeters.Of(context).Directories;
        _metered.Add(this);
        _loop = BackgroundLoop.Start("discovery", _logger, _clock, ReceiveAsync);
        _ofContext.Add(this);
        _ = _loop.Completion.ContinueWith(_ => _watchers.Complete(), TaskScheduler.Default);
    }

    /// <summary>What it looks for.</summary>
    public ServiceKind Kind { get; }

    /// <inheritdoc/>
    public DirectoryTrust Trust
    {
        get
        {
            lock (_gate)
            {
                return _endpoints.Any(DirectoryEndpointFilter.IsLocal) ? DirectoryTrust.SameMachine : DirectoryTrust.Network;
            }
        }
    }

    /// <summary>Adds a registry. Returns at once: it is connected in the background, again and again.</summary>
    /// <param name="publisherEndpoint">The publisher endpoint of the registry. One that was added before stays as it is.</param>
    /// <exception cref="ArgumentNullException"><paramref name="publisherEndpoint"/> is null.</exception>
    /// <exception cref="ZlinkException">InvalidArgument, ProtocolNotSupported: that is no endpoint; nothing was added.
    /// ContextTerminated.</exception>
    /// <exception cref="ObjectDisposedException">The discovery is disposed.</exception>
    public void ConnectRegistry(string publisherEndpoint)
    {
        ArgumentNullException.ThrowIfNull(publisherEndpoint);
        lock (_gate)
        {
            // Over inproc each connect would make a connection of its own.
            if (!_endpoints.Contains(publisherEndpoint))
            {
                _socket.Connect(publisherEndpoint);
                _endpoints.Add(publisherEndpoint);
                ArmTimer();
            }
        }
    }

    /// <summary>Removes a registry, and at once what it alone listed.</summary>
    /// <param name="publisherEndpoint">As it was given to <see cref="ConnectRegistry"/>.</param>
    /// <returns>False: it is not among the registries.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="publisherEndpoint"/> is null.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    /// <exception cref="ObjectDisposedException">The discovery is disposed.</exception>
    public bool DisconnectRegistry(string publisherEndpoint)
    {
        ArgumentNullException.ThrowIfNull(publisherEndpoint);
        IReadOnlyCollection<string> changed;
        lock (_gate)
        {
            if (!_endpoints.Remove(publisherEndpoint))
            {
                return false;
            }

            UpdateConnections();
            if (_socket.ConnectedEndpoints.Contains(publisherEndpoint, StringComparer.Ordinal))
            {
                _socket.Disconnect(publisherEndpoint);
            }

            UpdateConnections();
            changed = _store.Remove(_clock.GetUtcNow(), publisherEndpoint);
        }

        Notify(changed);
        return true;
    }

    /// <summary>Shows this service from now on, and of the others only those that were subscribed, too. While nothing is subscribed
    /// everything is shown. Everything is received in any case, as in the native core.</summary>
    /// <param name="service">The name.</param>
    /// <exception cref="ArgumentException">The name is null or empty.</exception>
    public void Subscribe(string service)
    {
        ArgumentException.ThrowIfNullOrEmpty(service);
        ChangeFilter(filter => filter.Add(service));
    }

    /// <summary>Takes a subscription back. With the last one everything is shown again.</summary>
    /// <param name="service">The name.</param>
    /// <returns>False: it was not subscribed.</returns>
    /// <exception cref="ArgumentException">The name is null or empty.</exception>
    public bool Unsubscribe(string service)
    {
        ArgumentException.ThrowIfNullOrEmpty(service);
        return ChangeFilter(filter => filter.Remove(service));
    }

    /// <inheritdoc/>
    /// <exception cref="ArgumentNullException"><paramref name="service"/> is null.</exception>
    public ServiceSnapshot GetService(string service)
    {
        ArgumentNullException.ThrowIfNull(service);
        return IsInFilter(Volatile.Read(ref _filter), service) && _store.Services.TryGetValue(service, out ServiceSnapshot? snapshot)
            ? snapshot : new ServiceSnapshot(service, []);
    }

    /// <summary>All services that have an instance and are shown.</summary>
    /// <returns>Their snapshots, in no order.</returns>
    public IReadOnlyCollection<ServiceSnapshot> GetServices()
    {
        ImmutableHashSet<string> filter = Volatile.Read(ref _filter);
        return [.. _store.Services.Values.Where(service => IsInFilter(filter, service.Service))];
    }

    /// <summary>How many instances a service has.</summary>
    /// <param name="service">Its name.</param>
    /// <returns>The number; 0 for one that is unknown or not shown.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="service"/> is null.</exception>
    public int GetInstanceCount(string service) => GetService(service).Instances.Length;

    /// <summary>Whether a service has an instance.</summary>
    /// <param name="service">Its name.</param>
    /// <returns>True if it has one and is shown.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="service"/> is null.</exception>
    public bool IsAvailable(string service) => GetService(service).IsAvailable;

    /// <summary>Waits until a service has so many instances.</summary>
    /// <param name="service">Its name.</param>
    /// <param name="instances">How many at least.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <returns>The first snapshot with so many.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="service"/> is null.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    /// <exception cref="ObjectDisposedException">The discovery was disposed, or its context shut down.</exception>
    public async ValueTask<ServiceSnapshot> WaitForAsync(string service, int instances = 1, CancellationToken cancellationToken = default)
    {
        ServiceSnapshot present = GetService(service);
        if (present.Instances.Length >= instances)
        {
            return present;
        }

        await foreach (ServiceChange change in WatchAsync(service, cancellationToken).ConfigureAwait(false))
        {
            if (change.After.Instances.Length >= instances)
            {
                return change.After;
            }
        }

        throw new ObjectDisposedException(nameof(RegistryDirectory));
    }

    /// <inheritdoc/>
    public IAsyncEnumerable<ServiceChange> WatchAsync(string? service = null, CancellationToken cancellationToken = default) =>
        _watchers.WatchAsync(service, cancellationToken);

    /// <summary>What there is from each registry: those that are connected to, and those whose connection has ended and whose instances are
    /// still shown.</summary>
    /// <returns>A snapshot.</returns>
    public IReadOnlyList<RegistryView> GetRegistries()
    {
        lock (_gate)
        {
            if (!_isDisposed)
            {
                UpdateConnections();
            }

            IReadOnlyList<PeerInfo> peers = _isDisposed ? [] : _socket.GetPeers();
            string? WhyNot(string endpoint) => peers.FirstOrDefault(peer => IsAt(peer, endpoint))?.WhyNotConnected;
            IEnumerable<RegistryView> without = _endpoints
                .Except(_store.Views.Where(static view => view.EndedAt is null).Select(static view => view.Endpoint),
                    StringComparer.Ordinal)
                .Select(endpoint => new RegistryView
                {
                    Endpoint = endpoint,
                    IsConnected = peers.Any(peer => peer.IsConnected && IsAt(peer, endpoint)),
                    WhyNotConnected = WhyNot(endpoint),
                });
            return [.. _store.Views.Select(view => ViewOf(view, WhyNot(view.Endpoint))), .. without];
        }
    }

    /// <summary>Registries, services and instances as text of several lines, for a log or a debugger.
    /// Its form may change.</summary>
    /// <returns>The text.</returns>
    public string Describe()
    {
        var text = new StringBuilder();
        text.AppendLine(CultureInfo.InvariantCulture, $"Discovery of {Kind}");
        foreach (RegistryView view in GetRegistries())
        {
            string why = view.WhyNotConnected is null ? "" : $": {view.WhyNotConnected}";
            text.AppendLine(CultureInfo.InvariantCulture,
                $"  registry {new RedactedEndpoint(view.Endpoint)}: {(view.IsConnected ? "" : "not ")}connected, id {view.RegistryId}, "
                + $"sequence {view.Sequence}, last list at {view.LastListAt:O}, {view.Services} services{why}");
        }

        foreach (ServiceSnapshot service in GetServices().OrderBy(static service => service.Service, StringComparer.Ordinal))
        {
            text.AppendLine(CultureInfo.InvariantCulture, $"  {service}");
            foreach (ServiceInstance instance in service.Instances)
            {
                text.AppendLine(CultureInfo.InvariantCulture,
                    $"    {new RedactedEndpoint(instance.Endpoint)}, id {instance.RoutingId}, weight {instance.Weight}");
            }
        }

        return text.ToString();
    }

    /// <summary>Ends the discovery and returns at once. Those that follow it keep their last snapshot, and their enumerations end.
    /// Idempotent.</summary>
    public void Dispose()
    {
        lock (_gate)
        {
            _isDisposed = true;
        }

        _ofContext.Remove(this);
        _events.Dispose();
        _timer.Dispose();
        _socket.Dispose();
        _loop.Stop();
        _metered.Remove(this);
    }

    /// <summary>As <see cref="Dispose"/>, and waits until its loop has ended.</summary>
    /// <returns>Complete when it has ended.</returns>
    public async ValueTask DisposeAsync()
    {
        Dispose();
        await _loop.Completion.ConfigureAwait(false);
    }

    bool IFollowedLists.Lists(string service, string endpoint) => _store.Services.TryGetValue(service, out ServiceSnapshot? snapshot)
        && snapshot.Instances.Any(instance => string.Equals(instance.Endpoint, endpoint, StringComparison.Ordinal));

    bool IFollowedLists.Follows(string? registry)
    {
        lock (_gate)
        {
            return _store.Views.Any(view => view.EndedAt is null && (registry is null || IsSameHost(view.Endpoint, registry)));
        }
    }

    bool IKnowsRemovals.IsRemoved(string service, string endpoint) => _store.IsRemoved(Now, service, endpoint);

    private TimeSpan Now => _clock.GetElapsedTime(_start);

    private static bool IsSameHost(string one, string other) => ZlinkEndpoint.TryParse(one, out ZlinkEndpoint? first)
        && ZlinkEndpoint.TryParse(other, out ZlinkEndpoint? second)
        && string.Equals(first.Host, second.Host, StringComparison.OrdinalIgnoreCase);

    private static bool IsInFilter(ImmutableHashSet<string> filter, string service) => filter.IsEmpty || filter.Contains(service);

    private async ValueTask ReceiveAsync(CancellationToken cancellationToken)
    {
        int count = await _socket.ReceiveManyAsync(_batch, cancellationToken).ConfigureAwait(false);
        for (int i = 0; i < count; i++)
        {
            using Message message = _batch[i];
            Notify(Accept(message));
        }
    }

    private IReadOnlyCollection<string> Accept(in Message message)
    {
        lock (_gate)
        {
            IReadOnlyCollection<string> changed;
            if (message.UserState is ConnectionView known)
            {
                changed = _store.OnList(Now, _clock.GetUtcNow(), known, new Frames(message));
            }
            else
            {
                var view = new ConnectionView();
                message.UserState = view;
                UpdateConnections(view);
                changed = _store.OnList(Now, _clock.GetUtcNow(), view, new Frames(message));
                _notTaken.Remove(message.RemoteAddress);
                UpdateConnections(); // Its connection may have ended before it was known here.
            }

            ArmTimer();
            return changed;
        }
    }

    private void OnDisconnected(SocketEvent happened)
    {
        bool isReported = true;
        lock (_gate)
        {
            if (!_isDisposed)
            {
                UpdateConnections();
                ArmTimer();
                isReported = !IsOfOurs(happened) || !_notTaken.Add(happened.RemoteAddress); // It comes by each connection: once is enough.
            }
        }

        if (!isReported)
        {
            ServicesLog.ListNotTaken(_logger, happened.RemoteAddress, happened.Detail ?? "the connection broke the protocol");
        }
    }

    /// <summary>This end has ended the connection because of what came by it.</summary>
    private static bool IsOfOurs(SocketEvent happened) => (DisconnectReason)happened.Value == DisconnectReason.ProtocolError;

    private static bool IsAt(PeerInfo peer, string endpoint) => string.Equals(peer.Endpoint, endpoint, StringComparison.Ordinal);

    // Under the gate.
    private void UpdateConnections(ConnectionView? first = null)
    {
        var live = new Dictionary<ConnectionView, string>();
        foreach (PeerInfo peer in _socket.GetPeers())
        {
            if (peer is { IsConnected: true, UserState: ConnectionView view })
            {
                live[view] = peer.Endpoint;
            }
        }

        if (first is not null && live.TryGetValue(first, out string? endpoint))
        {
            first.Endpoint = endpoint;
        }

        _store.OnConnections(Now, live);
    }

    private void OnTimer()
    {
        IReadOnlyCollection<string> changed;
        lock (_gate)
        {
            if (_isDisposed)
            {
                return;
            }

            InprocEndpoints.ConnectMissing(_socket, _endpoints);
            UpdateConnections();
            changed = _store.OnTime(Now, _clock.GetUtcNow());
            ArmTimer();
        }

        Notify(changed);
    }

    // Under the gate.
    private void ArmTimer()
    {
        TimeSpan? due = _store.NextTime - Now;
        bool isPoll = _endpoints.Any(InprocEndpoints.IsInproc) && !(due <= InprocEndpoints.PollInterval);
        _timer.ChangeDue(isPoll ? InprocEndpoints.PollInterval : due);
    }

    private bool ChangeFilter(Func<ImmutableHashSet<string>, ImmutableHashSet<string>> change)
    {
        lock (_gate)
        {
            ImmutableHashSet<string> changed = change(_filter);
            if (changed == _filter)
            {
                return false;
            }

            Volatile.Write(ref _filter, changed);
        }

        Notify(_store.Services.Keys);
        return true;
    }

    private void Notify(IEnumerable<string> services)
    {
        foreach (string service in services)
        {
            _watchers.Notify(service);
        }
    }

    internal int ServiceCount => _store.Services.Count;

    internal long InstanceCount => _store.Services.Values.Sum(static service => (long)service.Instances.Length);

    internal IEnumerable<Reading> RegistryStates() => RegistryView.ConnectionStates(GetRegistries());

    internal IEnumerable<Reading> ListResults()
    {
        (long accepted, long repeated, long forPeers, long malformed) = _store.Lists;
        return [ResultOf(accepted, "accepted"), ResultOf(repeated, "repeated"), ResultOf(forPeers, "for_peers"),
            ResultOf(malformed, "malformed")];

        static Reading ResultOf(long count, string result) => new(count, "zlink.result", result);
    }

    private RegistryView ViewOf(ConnectionView view, string? whyNotConnected) => new()
    {
        Endpoint = view.Endpoint,
        IsConnected = view.EndedAt is null,
        WhyNotConnected = view.EndedAt is null ? null : whyNotConnected,
        RegistryId = view.RegistryId,
        Sequence = view.Sequence,
        LastListAt = view.LastListAt,
        Services = view.Services.Keys.Count(key => key.Kind == (ushort)Kind),
        Instances = view.Services.Values.Where(service => service.Key.Kind == (ushort)Kind).Sum(static service => service.Instances.Length),
    };
}
