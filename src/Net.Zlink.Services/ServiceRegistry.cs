using System.Globalization;
using System.Security.Cryptography;
using System.Threading.Channels;
using Microsoft.Extensions.Logging;

namespace Net.Zlink.Services;

/// <summary>
/// Lists where services are: receivers and nodes register with it, discoveries follow its list. Entries are leases in memory; several
/// registries in a full mesh show each other's.
/// </summary>
/// <remarks>
/// Safe for any number of threads. Native receivers, nodes, discoveries and registries work with it as with one of their own.
/// </remarks>
public sealed class ServiceRegistry : IAsyncDisposable, IDisposable
{
    // Of one reader; one that is slower misses the oldest.
    private const int MaxQueuedEvents = 1024;

    private readonly Watchers<RegistryEvent> _watchers = new(MaxQueuedEvents, BoundedChannelFullMode.DropOldest);
    private readonly ZlinkContext _context;
    private readonly ServiceRegistryOptions _options;
    private readonly ILogger _logger;
    private readonly Lock _gate = new();
    private readonly List<string> _peersBeforeStart;
    private Parts? _parts;
    private bool _isStarting;
    private Task? _end;

    /// <summary>A registry that is not up yet: see <see cref="Start"/>.</summary>
    /// <param name="context">Makes its sockets; gives the clock and the loggers.</param>
    /// <param name="options">The settings.</param>
    /// <exception cref="ArgumentNullException">One of the arguments is null.</exception>
    /// <exception cref="ArgumentException">An option is missing or out of its range; the message names it.</exception>
    public ServiceRegistry(ZlinkContext context, ServiceRegistryOptions options)
    {
        ArgumentNullException.ThrowIfNull(context);
        ArgumentNullException.ThrowIfNull(options);
        _context = context;
        _options = options.ValidCopy();
        _logger = context.LoggerFactory.CreateLogger(ServicesLog.Category);
        _peersBeforeStart = [.. _options.Peers];
        Id = _options.Id ?? (uint)RandomNumberGenerator.GetInt32(int.MaxValue) + 1;
    }

    /// <summary>The number of this registry.</summary>
    public uint Id { get; }

    /// <summary>
    /// Where discoveries and peers connect: what was bound, with the port; before <see cref="Start"/> the text of the options.
    /// </summary>
    public string PublisherEndpoint => _parts?.PublisherEndpoint ?? _options.PublisherEndpoint;

    /// <summary>
    /// Where receivers and nodes connect: what was bound, with the port; before <see cref="Start"/> the text of the options.
    /// </summary>
    public string RouterEndpoint => _parts?.RouterEndpoint ?? _options.RouterEndpoint;

    /// <summary>Binds both endpoints and connects the peers. After a failure it may be called again.</summary>
    /// <exception cref="ZlinkException">An endpoint cannot be bound, or a peer's text is none: as <see cref="ZlinkSocket.Bind"/> and
    /// <see cref="ZmpSocket.Connect(string)"/>.</exception>
    /// <exception cref="InvalidOperationException">It is up already.</exception>
    /// <exception cref="ObjectDisposedException">The registry or its context is disposed.</exception>
    public void Start()
    {
        string[] peers;
        lock (_gate)
        {
            ObjectDisposedException.ThrowIf(_end is not null, this);
            if (_isStarting || _parts is not null)
            {
                throw new InvalidOperationException("The registry was already started: call Start once.");
            }

            _isStarting = true;
            peers = [.. _peersBeforeStart];
        }

        Parts? parts = null;
        try
        {
            parts = Open();
            Array.ForEach(peers, parts.Peers.Add);
        }
        catch
        {
            _ = parts?.DisposeAsync().AsTask();
            lock (_gate)
            {
                _isStarting = false;
            }

            throw;
        }

        lock (_gate)
        {
            _isStarting = false;
            if (_end is null)
            {
                _parts = parts;
            }
        }

        if (_parts is null)
        {
            _ = parts.DisposeAsync().AsTask();
            throw new ObjectDisposedException(nameof(ServiceRegistry));
        }

        ServicesLog.RegistryStarted(_logger, Id, parts.PublisherEndpoint, parts.RouterEndpoint, parts.Core.Sequence);
    }

    /// <summary>Follows another registry. It must follow this one, too.</summary>
    /// <param name="publisherEndpoint">Its publisher endpoint; one that is a peer already stays as it is.</param>
    /// <exception cref="ArgumentException">The text is null or empty.</exception>
    /// <exception cref="ZlinkException">The text is no endpoint; before <see cref="Start"/> that says so.</exception>
    /// <exception cref="ObjectDisposedException">The registry is disposed.</exception>
    public void AddPeer(string publisherEndpoint)
    {
        ArgumentException.ThrowIfNullOrEmpty(publisherEndpoint);
        lock (_gate)
        {
            ObjectDisposedException.ThrowIf(_end is not null, this);
            if (_parts is null)
            {
                _peersBeforeStart.Add(publisherEndpoint);
                return;
            }
        }

        _parts.Peers.Add(publisherEndpoint);
    }

    /// <summary>Follows another registry no longer; what came from it is dropped at once.</summary>
    /// <param name="publisherEndpoint">As it was added.</param>
    /// <returns>False: it was no peer.</returns>
    /// <exception cref="ArgumentException">The text is null or empty.</exception>
    /// <exception cref="ObjectDisposedException">The registry is disposed.</exception>
    public bool RemovePeer(string publisherEndpoint)
    {
        ArgumentException.ThrowIfNullOrEmpty(publisherEndpoint);
        lock (_gate)
        {
            ObjectDisposedException.ThrowIf(_end is not null, this);
            if (_parts is null)
            {
                return _peersBeforeStart.Remove(publisherEndpoint);
            }
        }

        return _parts.Peers.Remove(publisherEndpoint);
    }

    /// <summary>Removes an own entry; a receiver that continues to register it comes back.</summary>
    /// <param name="kind">What it is.</param>
    /// <param name="service">The name of the service.</param>
    /// <param name="endpoint">The endpoint, as it registered.</param>
    /// <returns>False: it is not registered here.</returns>
    /// <exception cref="ArgumentNullException">One of the texts is null.</exception>
    /// <exception cref="InvalidOperationException">The registry is not up.</exception>
    public bool Remove(ServiceKind kind, string service, string endpoint)
    {
        ArgumentNullException.ThrowIfNull(service);
        ArgumentNullException.ThrowIfNull(endpoint);
        Parts parts = Running();
        var key = new EntryKey(new ServiceKey((ushort)kind, new ServiceText(service)), new ServiceText(endpoint));
        bool isRemoved = parts.Core.Do((state, now) => state.Remove(now, key));
        parts.Publisher.BroadcastIfDue();
        return isRemoved;
    }

    /// <summary>What the registry knows at this moment; after its end, what it knew last.</summary>
    /// <returns>The snapshot.</returns>
    /// <exception cref="InvalidOperationException">The registry is not up.</exception>
    public RegistrySnapshot GetSnapshot() => Running().GetSnapshot();

    /// <summary>
    /// Follows what happens, from the call on, which may come before <see cref="Start"/>. A slow reader misses the oldest of more than
    /// 1,024 events. Ends with the registry.
    /// </summary>
    /// <param name="cancellationToken">Ends it.</param>
    /// <returns>Events in order.</returns>
    public IAsyncEnumerable<RegistryEvent> WatchAsync(CancellationToken cancellationToken = default) =>
        _watchers.WatchAsync(cancellationToken);

    /// <summary>
    /// The state as text, for a log or a debugger: entries with owner and age, peers with the reason where one is not connected.
    /// </summary>
    /// <returns>Several lines; their form may change.</returns>
    /// <exception cref="InvalidOperationException">The registry is not up.</exception>
    public string Describe()
    {
        Parts parts = Running();
        return RegistryDescription.Of(parts.GetSnapshot(), parts.PublisherEndpoint, parts.RouterEndpoint,
            _context.TimeProvider.GetUtcNow());
    }

    /// <summary>Begins the end and returns at once; nothing is sent to receivers or discoveries, whose connections end.</summary>
    public void Dispose() => _ = EndAsync();

    /// <summary>Ends the registry; what it sent last is delivered, for at most a second.</summary>
    /// <returns>Completes when its loops have ended.</returns>
    public ValueTask DisposeAsync() => new(EndAsync());

    private Parts Running() => _parts ?? throw new InvalidOperationException("The registry is not running: call Start first.");

    private Task EndAsync()
    {
        lock (_gate)
        {
            return _end ??= Task.Run(() => EndAsync(_parts));
        }
    }

    private async Task EndAsync(Parts? parts)
    {
        if (parts is not null)
        {
            await parts.DisposeAsync().ConfigureAwait(false);
        }

        _watchers.Complete();
    }

    private Parts Open()
    {
        XPubOptions publisherOptions = _options.PublisherSocket.Copy();
        publisherOptions.Notices = SubscriptionNotices.AllSubscriptions;
        RouterOptions routerOptions = _options.RouterSocket.Copy();

        // A native receiver's heartbeats come by a second connection with its id.
        routerOptions.OnDuplicateRoutingId = DuplicateRoutingId.Share;
        XPubSocket publisher = _context.CreateXPub(publisherOptions);
        RouterSocket? router = null;
        try
        {
            router = _context.CreateRouter(routerOptions);
            return new Parts(this, publisher, router, publisher.Bind(_options.PublisherEndpoint), router.Bind(_options.RouterEndpoint));
        }
        catch
        {
            publisher.Dispose();
            router?.Dispose();
            throw;
        }
    }

    /// <summary>What exists while the registry is up.</summary>
    private sealed class Parts : IAsyncDisposable
    {
        private readonly RegistryRouter _router;
        private readonly MeteredObjects<RegistryMetrics> _metered;
        private readonly RegistryMetrics _metrics;

        public Parts(ServiceRegistry registry, XPubSocket publisher, RouterSocket router, string publisherEndpoint, string routerEndpoint)
        {
            (ZlinkContext context, ServiceRegistryOptions options, ILogger logger) =
                (registry._context, registry._options, registry._logger);
            PublisherEndpoint = publisherEndpoint;
            RouterEndpoint = routerEndpoint;
            DateTimeOffset start = context.TimeProvider.GetUtcNow();
            TimeSpan peerTimeout = options.PeerTimeout ?? options.BroadcastInterval * 3;
            var settings = new RegistrySettings(registry.Id, options.HeartbeatTimeout, peerTimeout, options.MaxEntries, start)
            {
                TickInterval = RegistryState.TickFor(options.HeartbeatTimeout, peerTimeout, options.BroadcastInterval),
            };
            ulong sequence = options.InitialSequence ?? (options.Id is null ? 0 : (ulong)start.ToUnixTimeMilliseconds() << 20);
            Core = new RegistryCore(new RegistryState(settings, sequence), context.TimeProvider, registry._watchers, logger);
            Peers = new RegistryPeers(context, Core, options, publisher.Options.RoutingId, logger, () => Publisher!.BroadcastIfDue());
            Publisher = new RegistryPublisher(context, publisher, Core, options, logger);
            _router = new RegistryRouter(
                context, router, Core, options, settings.TickInterval, logger, Publisher.BroadcastIfDue, Tick);
            _metered = ServicesMeters.Of(context).Registries;
            _metrics = new RegistryMetrics(registry.Id.ToString(CultureInfo.InvariantCulture), GetSnapshot);
            _metered.Add(_metrics);
        }

        public string PublisherEndpoint { get; }

        public string RouterEndpoint { get; }

        public RegistryCore Core { get; }

        public RegistryPublisher Publisher { get; }

        public RegistryPeers Peers { get; }

        public RegistrySnapshot GetSnapshot()
        {
            RegistryView[] peers = Peers.GetViews();
            return Core.Do((state, _) => state.GetSnapshot(peers, new RegistryConnections(
                Publisher.Subscribers, _router.Clients, _router.UndecidedClients), Publisher.ListsSent));
        }

        public async ValueTask DisposeAsync()
        {
            _metered.Remove(_metrics);
            await _router.DisposeAsync().ConfigureAwait(false);
            await Peers.DisposeAsync().ConfigureAwait(false);
            await Publisher.DisposeAsync().ConfigureAwait(false);
        }

        private void Tick()
        {
            PeerView[] connected = Peers.Connected();
            Core.Do((state, now) => state.Tick(now, connected));
            Publisher.BroadcastIfDue();
        }
    }
}
