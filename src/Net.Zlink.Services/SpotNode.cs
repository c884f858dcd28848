using Microsoft.Extensions.Logging;

namespace Net.Zlink.Services;

/// <summary>Publishes and subscribes by topic, together with other nodes: those that it is connected to by hand, and those that a directory
/// lists. There is no broker.</summary>
/// <remarks>
/// Safe for any number of threads. A publication goes to the subscribers of its own node on the publisher's thread, and to every node that
/// is connected to this one and has a matching subscription. It is delivered at most once. What one thread publishes is received in order.
/// </remarks>
/// <example>
/// <code>
/// await using var node = new SpotNode(context);
/// node.Bind("tcp://*:5570");
/// node.ConnectRegistry("tcp://registry:5561");
/// node.Register();
/// node.UseDirectory(discovery);
/// SpotSubscriber zone = node.CreateSubscriber();
/// zone.Subscribe("zone:3:4");
/// node.TryPublish("zone:3:5", position);
/// using SpotMessage message = await zone.ReceiveAsync();
/// </code>
/// </example>
public sealed class SpotNode : IAsyncDisposable, IDisposable
{
    /// <summary>The service under which nodes register and find each other by default.</summary>
    public const string DefaultService = "spot-node";

    // What was accepted before the end gets this long to leave.
    private readonly ZlinkContext _context;
    private readonly SpotNodeOptions _options;
    private readonly ILogger _logger;
    private readonly Lock _gate = new();
    private readonly SubSocket _socket;
    private readonly TopicIndex _index;
    private readonly PublishPath _path;
    private readonly DispatchLoop _dispatch;
    private readonly BackgroundLoop _receiving;
    private readonly BackgroundLoop? _publishing;
    private readonly PeerSet _peers;
    private readonly DirectoryEndpointFilter _filter;
    private readonly RegistrationSet _registrations;
    private readonly SubscriberSet _subscribers;
    private readonly NodeCounters _counters;
    private readonly List<DirectoryFollower> _directories = [];
    private readonly Dictionary<string, string> _bound = new(StringComparer.Ordinal);
    private bool _isDisposed;

    /// <summary>Creates a node that is neither bound nor connected; its own subscribers receive what it publishes.</summary>
    /// <param name="context">The context of its sockets. Dispose the node first.</param>
    /// <param name="options">Its options; null: the defaults.</param>
    /// <exception cref="ArgumentNullException"><paramref name="context"/> is null.</exception>
    /// <exception cref="ArgumentException">An option is out of its range; the message names it.</exception>
    /// <exception cref="ZlinkException">TooManySockets. ContextTerminated.</exception>
    /// <exception cref="ObjectDisposedException">The context is disposed.</exception>
    public SpotNode(ZlinkContext context, SpotNodeOptions? options = null)
    {
        ArgumentNullException.ThrowIfNull(context);
        _context = context;
        _options = (options ?? new SpotNodeOptions()).ValidCopy();
        _logger = context.LoggerFactory.CreateLogger(ServicesLog.Category);
        _index = new TopicIndex(text => _socket!.Subscribe(text), text => _socket!.Unsubscribe(text));
        _path = new PublishPath(new MessageBuilderPool(context.Pool), _index, _options, context);
        _socket = context.CreateSub(_options.SubscriberSocket);
        _filter = new DirectoryEndpointFilter(_options.DirectoryEndpoints, _options.SubscriberSocket.Tls);
        _subscribers = new SubscriberSet(_index, context, _logger);
        _peers = new PeerSet(
            _socket, new PeerSetOptions(_logger, _options.MaxConcurrentDials, () => _subscribers.Present), context.TimeProvider);
        _registrations = new RegistrationSet(context, ServiceKind.SpotNode,
            new RegistrationSettings(_options.HeartbeatInterval, _options.AckTimeout, _options.RegistrySocket))
        { GivenId = RoutingId };
        _dispatch = new DispatchLoop(_socket, _index, _peers);
        _receiving = BackgroundLoop.Start("spot receive", _logger, context.TimeProvider, _dispatch.RunAsync);
        _publishing = _path.Queue is { } queue ? BackgroundLoop.Start("spot publish", _logger, context.TimeProvider, queue.RunAsync) : null;
        _counters = new NodeCounters(_path, _dispatch, _index, _peers, _registrations, _subscribers);
        ServicesMeters.Of(context).Nodes.Add(_counters);
        _ = EndSubscribersAsync();
    }

    /// <summary>The id that registries list for the first advertised endpoint; other endpoints get an id made of their text.</summary>
    public RoutingId RoutingId => _options.RoutingId;

    /// <summary>Listens for other nodes, which then receive this node's messages. May be called for several endpoints. An endpoint that is
    /// bound already stays as it is.</summary>
    /// <param name="endpoint">As for <see cref="ZlinkSocket.Bind"/>.</param>
    /// <returns>The endpoint with the port or name that the system chose.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="endpoint"/> is null.</exception>
    /// <exception cref="ZlinkException">As for <see cref="ZlinkSocket.Bind"/>.</exception>
    /// <exception cref="ObjectDisposedException">The node is disposed.</exception>
    public string Bind(string endpoint)
    {
        ArgumentNullException.ThrowIfNull(endpoint);
        PubSocket socket = PublisherSocket();
        lock (_gate)
        {
            // One with a wildcard port is another endpoint each time.
            bool isFixed = ZlinkEndpoint.TryParse(endpoint, out ZlinkEndpoint? parsed) && parsed.Port is > 0;
            string there = isFixed ? _bound.GetValueOrDefault(endpoint, endpoint) : endpoint;
            if (socket.BoundEndpoints.Contains(there, StringComparer.Ordinal))
            {
                return there;
            }
        }

        string bound = socket.Bind(endpoint);
        lock (_gate)
        {
            _bound[endpoint] = bound;
        }

        _peers.AddOwn(bound);
        return bound;
    }

    /// <summary>Stops listening at an endpoint and disconnects the nodes that connected there.</summary>
    /// <param name="endpoint">As <see cref="Bind"/> returned it.</param>
    /// <exception cref="ArgumentNullException"><paramref name="endpoint"/> is null.</exception>
    /// <exception cref="InvalidOperationException">The node was never bound.</exception>
    /// <exception cref="ZlinkException">As for <see cref="ZlinkSocket.Unbind"/>.</exception>
    /// <exception cref="ObjectDisposedException">The node is disposed.</exception>
    public void Unbind(string endpoint) =>
        (_path.Socket ?? throw new InvalidOperationException("This node was never bound.")).Unbind(endpoint);

    /// <summary>Connects to another node and receives the messages of this node's subscriptions. Returns at once: it connects in the
    /// background and retries.</summary>
    /// <param name="endpoint">Where that node is bound. Repeating an endpoint has no effect.</param>
    /// <exception cref="ArgumentNullException"><paramref name="endpoint"/> is null.</exception>
    /// <exception cref="ZlinkException">InvalidArgument, ProtocolNotSupported: that is no endpoint; nothing was added.
    /// ContextTerminated.</exception>
    /// <exception cref="ObjectDisposedException">The node is disposed.</exception>
    public void Connect(string endpoint)
    {
        ArgumentNullException.ThrowIfNull(endpoint);
        _peers.Add(endpoint);
    }

    /// <summary>Takes <see cref="Connect"/> back. The node stays connected while a directory lists that endpoint.</summary>
    /// <param name="endpoint">As it was given there.</param>
    /// <returns>False: it was not.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="endpoint"/> is null.</exception>
    public bool Disconnect(string endpoint)
    {
        ArgumentNullException.ThrowIfNull(endpoint);
        return _peers.Remove(endpoint);
    }

    /// <summary>Adds a registry: what is registered, now and later, is registered there, too, as soon as it can be reached.</summary>
    /// <param name="routerEndpoint">The router endpoint of the registry. One that was added before stays as it is.</param>
    /// <exception cref="ArgumentNullException"><paramref name="routerEndpoint"/> is null.</exception>
    /// <exception cref="ZlinkException">InvalidArgument, ProtocolNotSupported: that is no endpoint; nothing was added.</exception>
    /// <exception cref="ObjectDisposedException">The node is disposed.</exception>
    public void ConnectRegistry(string routerEndpoint)
    {
        ArgumentNullException.ThrowIfNull(routerEndpoint);
        _registrations.AddRegistry(routerEndpoint);
    }

    /// <summary>Leaves a registry: unregisters there and ends the connections to it, in the background.</summary>
    /// <param name="routerEndpoint">As it was given to <see cref="ConnectRegistry"/>.</param>
    /// <returns>False: it is not among the registries.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="routerEndpoint"/> is null.</exception>
    public bool DisconnectRegistry(string routerEndpoint)
    {
        ArgumentNullException.ThrowIfNull(routerEndpoint);
        return _registrations.RemoveRegistry(routerEndpoint);
    }

    /// <summary>Lets other nodes find this one. Returns at once and retries in the background: see
    /// <see cref="ServiceRegistration.State"/>.</summary>
    /// <param name="service">The name, 1 to 255 bytes of UTF-8. Native nodes know names of 1 to 64 characters of a-z, 0-9, dot and
    /// hyphen.</param>
    /// <param name="advertise">The endpoint that other nodes connect to, 1 to 255 bytes. Null: the endpoint that was bound last, with
    /// <see cref="SpotNodeOptions.AdvertiseHost"/> in place of a wildcard.</param>
    /// <returns>The registration; dispose it to leave the registries.</returns>
    /// <exception cref="ArgumentException">The name or the endpoint is empty or too long, or no peer can connect to the
    /// endpoint.</exception>
    /// <exception cref="InvalidOperationException">Nothing is bound and no endpoint was given, or the service is registered at that
    /// endpoint already.</exception>
    /// <exception cref="ObjectDisposedException">The node is disposed.</exception>
    public ServiceRegistration Register(string service = DefaultService, string? advertise = null)
    {
        ServiceText name = ServiceText.Checked(service, nameof(service));
        string endpoint = AdvertisedEndpoint.Resolve(advertise, _path.Socket?.LastEndpoint ?? "", _options.AdvertiseHost);
        _peers.AddOwn(endpoint);
        return _registrations.Add(name, endpoint, weight: 1);
    }

    /// <summary>As <see cref="Register"/>, and waits for the first registry that accepts it.</summary>
    /// <param name="service">As there.</param>
    /// <param name="advertise">As there.</param>
    /// <param name="cancellationToken">Ends the wait, and the registration with it.</param>
    /// <returns>The registration; dispose it to leave the registries.</returns>
    /// <exception cref="ArgumentException">The name or the endpoint is empty or too long, or no peer can connect to the
    /// endpoint.</exception>
    /// <exception cref="InvalidOperationException">There is no registry, or as for <see cref="Register"/>.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    /// <exception cref="ServiceException">RegistrationRefused: each registry that can be reached refused it; nothing is
    /// registered.</exception>
    /// <exception cref="ObjectDisposedException">The node is disposed.</exception>
    public Task<ServiceRegistration> RegisterAsync(
        string service = DefaultService, string? advertise = null, CancellationToken cancellationToken = default) =>
        _registrations.RegisterAsync(() => Register(service, advertise), cancellationToken);

    /// <summary>Connects to all nodes that a directory lists, and disconnects from those that it lists no more: at once where there is no
    /// connection, or else after <see cref="SpotNodeOptions.ForgottenEndpointTimeout"/>. For those that have left by word it is
    /// <see cref="SpotNodeOptions.RemovedEndpointTimeout"/>.</summary>
    /// <remarks>This node itself is left out, and what <see cref="SpotNodeOptions.DirectoryEndpoints"/> refuse. Nodes of
    /// <see cref="Connect"/> and of other directories stay connected.</remarks>
    /// <param name="directory">A <see cref="RegistryDirectory"/> of SPOT nodes, a <see cref="StaticDirectory"/>, or one of your own. When
    /// it ends, its last list stays.</param>
    /// <param name="service">The name under which the nodes are listed.</param>
    /// <returns>Dispose it to follow the directory no more, which disconnects from its nodes.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="directory"/> is null.</exception>
    /// <exception cref="ArgumentException">The name is null or empty, or the directory is a discovery of something else.</exception>
    /// <exception cref="ObjectDisposedException">The node is disposed.</exception>
    public IDisposable UseDirectory(IServiceDirectory directory, string service = DefaultService)
    {
        ArgumentNullException.ThrowIfNull(directory);
        ArgumentException.ThrowIfNullOrEmpty(service);
        if (directory is RegistryDirectory { Kind: not ServiceKind.SpotNode })
        {
            throw new ArgumentException("This discovery looks for receivers: make one of ServiceKind.SpotNode.", nameof(directory));
        }

        ObjectDisposedException.ThrowIf(_isDisposed, this);
        var follower = new DirectoryFollower(_peers, directory, service, RoutingId, _filter, _options, _logger);
        lock (_gate)
        {
            if (!_isDisposed)
            {
                _directories.Add(follower);
                return follower;
            }
        }

        follower.Dispose();
        throw new ObjectDisposedException(nameof(SpotNode));
    }

    /// <summary>Waits until this node is connected to so many others. Their first publications may still be missed: a node sends only what
    /// subscriptions have arrived for.</summary>
    /// <param name="count">How many at least.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <returns>Complete when they are connected.</returns>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    /// <exception cref="ObjectDisposedException">The node was disposed.</exception>
    public ValueTask WaitForPeersAsync(int count = 1, CancellationToken cancellationToken = default) =>
        _peers.WaitAsync(count, cancellationToken);

    /// <summary>The nodes that this one connects to, connected or not: a snapshot.</summary>
    /// <returns>One for each endpoint, also those that wait to be dialled, and further addresses of one node.</returns>
    /// <exception cref="ObjectDisposedException">The node is disposed.</exception>
    public IReadOnlyList<PeerInfo> GetPeers() => _peers.GetPeers();

    /// <summary>Reports each re-established connection to a node, because messages of it may be missing. The next message of
    /// that node reports it to each subscriber, too: <see cref="SpotMessage.MissedBefore"/>.</summary>
    /// <param name="cancellationToken">Ends the enumeration with an exception.</param>
    /// <returns>The gaps from the call on. The enumeration ends with the node. Of unread gaps beyond 1,000, the oldest are
    /// dropped.</returns>
    public IAsyncEnumerable<SpotGap> WatchGapsAsync(CancellationToken cancellationToken = default) =>
        _peers.Gaps.WatchAsync(cancellationToken);

    /// <summary>The nodes that are connected to this one, with their queued and dropped messages: a snapshot.</summary>
    /// <returns>One for each connection; none as long as the node is not bound.</returns>
    /// <exception cref="ObjectDisposedException">The node is disposed.</exception>
    public IReadOnlyList<PeerInfo> GetFollowers() => _path.Socket?.GetPeers() ?? [];

    /// <summary>Publishes a message of one part, without waiting.</summary>
    /// <param name="topic">1 to 255 bytes of UTF-8. Native nodes cut a topic at a NUL.</param>
    /// <param name="payload">Any bytes, also none; copied.</param>
    /// <returns>True if it was accepted, else it was delivered to nobody. Full, with <see cref="PubOptions.NoDrop"/>: the queue of a
    /// node or of publications is full.</returns>
    /// <exception cref="ArgumentException">The topic is null, empty or too long.</exception>
    /// <exception cref="ObjectDisposedException">The node is disposed.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    public SendResult TryPublish(string topic, ReadOnlySpan<byte> payload)
    {
        ReadOnlySpan<byte> name = TopicBytes.Encode(topic, stackalloc byte[TopicBytes.MaxLength], nameof(topic));
        return _path.TryPublish(name, _index.Find(name), payload);
    }

    /// <summary>Publishes a message of several parts, without waiting.</summary>
    /// <param name="topic">As for <see cref="TryPublish(string, ReadOnlySpan{byte})"/>.</param>
    /// <param name="parts">The parts, at least one; empty then if it was accepted.</param>
    /// <returns>As there.</returns>
    /// <exception cref="ArgumentException">The topic is null, empty or too long, or there is no part.</exception>
    /// <exception cref="ObjectDisposedException">The node is disposed.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    public SendResult TryPublish(string topic, MessageBuilder parts)
    {
        ReadOnlySpan<byte> name = TopicBytes.Encode(topic, stackalloc byte[TopicBytes.MaxLength], nameof(topic));
        return _path.TryPublish(name, _index.Find(name), parts);
    }

    /// <summary>Publishes the parts of a received message, without waiting.</summary>
    /// <param name="topic">As for <see cref="TryPublish(string, ReadOnlySpan{byte})"/>.</param>
    /// <param name="message">The message; disposed if it was accepted.</param>
    /// <returns>As there.</returns>
    /// <exception cref="ArgumentException">The topic is null, empty or too long, or there is no part.</exception>
    /// <exception cref="ObjectDisposedException">The node or the message is disposed.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    public SendResult TryPublish(string topic, in Message message)
    {
        ReadOnlySpan<byte> name = TopicBytes.Encode(topic, stackalloc byte[TopicBytes.MaxLength], nameof(topic));
        return _path.TryPublish(name, _index.Find(name), message);
    }

    /// <summary>Publishes a message of one part; waits where <see cref="TryPublish(string, ReadOnlySpan{byte})"/> says Full.</summary>
    /// <param name="topic">As there.</param>
    /// <param name="payload">Any bytes, also none; copied before the call returns.</param>
    /// <param name="cancellationToken">Ends the wait; then no subscriber received the message.</param>
    /// <returns>Complete when it was accepted.</returns>
    /// <exception cref="ArgumentException">The topic is null, empty or too long.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    /// <exception cref="ObjectDisposedException">The node is disposed.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    public ValueTask PublishAsync(string topic, ReadOnlyMemory<byte> payload, CancellationToken cancellationToken = default)
    {
        ReadOnlySpan<byte> name = TopicBytes.Encode(topic, stackalloc byte[TopicBytes.MaxLength], nameof(topic));
        return _path.PublishAsync(name, _index.Find(name), payload, cancellationToken);
    }

    /// <summary>Publishes a message of several parts; waits where <see cref="TryPublish(string, MessageBuilder)"/> says Full.</summary>
    /// <param name="topic">As there.</param>
    /// <param name="parts">The parts, at least one; not to be touched until the task completes, and empty then if it was accepted.</param>
    /// <param name="cancellationToken">Ends the wait; then no subscriber received the message.</param>
    /// <returns>Complete when it was accepted.</returns>
    /// <exception cref="ArgumentException">The topic is null, empty or too long, or there is no part.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    /// <exception cref="ObjectDisposedException">The node is disposed.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    public ValueTask PublishAsync(string topic, MessageBuilder parts, CancellationToken cancellationToken = default)
    {
        ReadOnlySpan<byte> name = TopicBytes.Encode(topic, stackalloc byte[TopicBytes.MaxLength], nameof(topic));
        return _path.PublishAsync(name, _index.Find(name), parts, cancellationToken);
    }

    /// <summary>Creates a publisher of one topic, which encodes and finds it only once.</summary>
    /// <param name="topic">As for <see cref="TryPublish(string, ReadOnlySpan{byte})"/>.</param>
    /// <returns>The publisher.</returns>
    /// <exception cref="ArgumentException">The topic is null, empty or too long.</exception>
    public SpotPublisher CreatePublisher(string topic) => new(
        _index, _path, _index.FindOwn(TopicBytes.Encode(topic, stackalloc byte[TopicBytes.MaxLength], nameof(topic))));

    /// <summary>Creates a subscriber without subscriptions.</summary>
    /// <param name="options">Its queue; null: the defaults.</param>
    /// <returns>The subscriber; dispose it.</returns>
    /// <exception cref="ArgumentOutOfRangeException">A limit of the options is less than 1.</exception>
    /// <exception cref="ObjectDisposedException">The node is disposed.</exception>
    public SpotSubscriber CreateSubscriber(SpotSubscriberOptions? options = null)
    {
        return new SpotSubscriber(_subscribers, _subscribers.Add((options ?? new SpotSubscriberOptions()).ValidCopy()));
    }

    /// <summary>The counts of the node so far: a snapshot.</summary>
    /// <returns>The statistics.</returns>
    public SpotNodeStatistics GetStatistics() => _counters.Read();

    /// <summary>Endpoints, peers, registrations and counts as text of several lines, for a log or a debugger.
    /// Its form may change.</summary>
    /// <returns>The text.</returns>
    public string Describe() => _counters.Describe(RoutingId, _isDisposed ? [] : GetPeers(), _isDisposed ? [] : GetFollowers());

    /// <summary>Begins to end and returns at once: unregisters, ends subscribers and their receives. Accepted messages have the
    /// socket's linger time to be written. Idempotent.</summary>
    public void Dispose() => _ = DisposeAsync().AsTask();

    /// <summary>As <see cref="Dispose"/>, and waits until the registries that are connected were notified and publications have left
    /// their queue, for a second at most.</summary>
    /// <returns>Complete when the sockets are disposed; handlers may still be running.</returns>
    public async ValueTask DisposeAsync()
    {
        DirectoryFollower[] directories;
        lock (_gate)
        {
            if (_isDisposed)
            {
                return;
            }

            _isDisposed = true;
            directories = [.. _directories];
        }

        await _registrations.DisposeAsync().ConfigureAwait(false);
        foreach (DirectoryFollower directory in directories)
        {
            directory.Dispose();
        }

        if (_publishing is { } publishing)
        {
            _path.Queue!.Complete();
            await publishing.Completion.WaitAsync(TimeSpan.FromSeconds(1), _context.TimeProvider)
                .ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            await publishing.DisposeAsync().ConfigureAwait(false);
        }

        _peers.Dispose();
        _socket.Dispose();
        await _receiving.DisposeAsync().ConfigureAwait(false);
        _subscribers.Dispose();
        _path.Dispose();
        _path.Socket?.Dispose();
        ServicesMeters.Of(_context).Nodes.Remove(_counters);
    }

    /// <summary>Makes the socket for other nodes once.</summary>
    private PubSocket PublisherSocket()
    {
        ObjectDisposedException.ThrowIf(_isDisposed, this);
        if (_path.Socket is { } present)
        {
            return present;
        }

        PubSocket made = _context.CreatePub(_options.PublisherSocket.Copy());
        lock (_gate)
        {
            if (!_isDisposed && _path.Socket is null)
            {
                return _path.Socket = made;
            }
        }

        made.Dispose(); // Another thread was faster, or the node has ended.
        ObjectDisposedException.ThrowIf(_isDisposed, this);
        return _path.Socket!;
    }

    /// <summary>The socket ends with the node, or with the context before it: then nothing comes any more.</summary>
    private async Task EndSubscribersAsync()
    {
        await _receiving.Completion.ConfigureAwait(false);
        _subscribers.Dispose();
    }
}
