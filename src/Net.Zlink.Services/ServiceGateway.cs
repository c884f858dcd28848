using System.Collections.Concurrent;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;

namespace Net.Zlink.Services;

/// <summary>Sends messages and requests to the receivers that a directory lists, sharing them out, and receives what they send
/// back.</summary>
/// <remarks>
/// Safe for any number of threads. It has one ROUTER, which connects each endpoint once for all services. A receiver gets its share while
/// its handshake is complete, and no longer.
/// On the wire it is as the native gateway: messages are the parts of the application and nothing else. Only
/// <see cref="ServiceClient.RequestAsync(ReadOnlyMemory{byte}, TimeSpan?, CancellationToken)"/> puts one part in front.
/// </remarks>
public sealed class ServiceGateway : IAsyncDisposable, IDisposable
{
    private readonly IServiceDirectory _directory;
    private readonly RouterSocket _router;
    private readonly MessageBuilderPool _builders;
    private readonly LinkTable _links;
    private readonly Requests _requests;
    private readonly UnreadMessages _unread;
    private readonly ReplyLoop _replies;
    private readonly LinkEvents _events;
    private readonly InprocReconnects _inproc;
    private readonly ServicesMeters _meters;
    private readonly GatewayMetrics _metrics;
    private readonly BackgroundLoop[] _loops;
    private readonly ConcurrentDictionary<string, ServiceClient> _clients = new(StringComparer.Ordinal);
    private readonly Lock _gate = new();
    private Task? _end;
    private Exception? _ended;

    /// <summary>A gateway, which connects nobody before <see cref="GetClient"/>.</summary>
    /// <param name="context">The context that its socket, clock and log belong to. Dispose the gateway first.</param>
    /// <param name="directory">Who serves which service; not disposed.</param>
    /// <param name="options">Options; null for defaults.</param>
    /// <exception cref="ArgumentNullException">Context or directory are null.</exception>
    /// <exception cref="ArgumentOutOfRangeException">An option is out of its range.</exception>
    /// <exception cref="ZlinkException">TooManySockets, ContextTerminated.</exception>
    public ServiceGateway(ZlinkContext context, IServiceDirectory directory, ServiceGatewayOptions? options = null)
    {
        ArgumentNullException.ThrowIfNull(context);
        ArgumentNullException.ThrowIfNull(directory);
        Context = context;
        _directory = directory;
        Options = (options ?? new ServiceGatewayOptions()).ValidCopy();
        ILogger logger = context.LoggerFactory?.CreateLogger(ServicesLog.Category) ?? NullLogger.Instance;
        Options.Socket.Mandatory = true; // A send says that its receiver is full or gone.

        // What waits for a lost connection must not reach the receiver's next one, which may be another process.
        Options.Socket.Immediate = true;
        DialLimits limits = LimitsOf(Options, Options.Socket);
        _router = context.CreateRouter(Options.Socket);
        _builders = new MessageBuilderPool(context.Pool);
        _unread = new UnreadMessages(context, Options, logger);
        _meters = ServicesMeters.Of(context);
        _requests = new Requests(_router, _builders, context.TimeProvider, _meters.RequestDuration, Options);
        var filter = new DirectoryEndpointFilter(Options.DirectoryEndpoints, Options.Socket.Tls);
        _links = new LinkTable(_router, context.TimeProvider, logger, limits, Options,
            endpoint => filter.WhyRefused(endpoint, directory.Trust), link => _replies!.OnLost(link));
        _requests.Ejections = new Ejections(_router, _links, context.TimeProvider, () => _requests.Pending.Now, logger);
        _replies = new ReplyLoop(_router, _links, _requests, _unread, logger);
        _events = new LinkEvents(_router, _links);
        _inproc = new InprocReconnects(_links, context.TimeProvider);
        _metrics = new GatewayMetrics(_requests, _unread);
        _meters.Gateways.Add(_metrics);
        _loops =
        [
            BackgroundLoop.Start("gateway replies", logger, context.TimeProvider, _replies.RunAsync),
            BackgroundLoop.Start("gateway events", logger, context.TimeProvider, _events.RunAsync),
            BackgroundLoop.Start("gateway directory", logger, context.TimeProvider, FollowAsync),
        ];
        _ = OnSocketEndedAsync();
    }

    /// <summary>The context that it was made in.</summary>
    public ZlinkContext Context { get; }

    /// <summary>What one sends to a service with: one client for each name, kept until <see cref="RemoveClient"/>. The first call for a
    /// name begins to connect its receivers.</summary>
    /// <param name="service">The name, 1 to 255 bytes in UTF-8.</param>
    /// <returns>The client.</returns>
    /// <exception cref="ArgumentException">The name is empty or too long.</exception>
    /// <exception cref="ObjectDisposedException">The gateway is disposed.</exception>
    public ServiceClient GetClient(string service)
    {
        ServiceText.Checked(service, nameof(service));
        ThrowIfEnded();
        if (_clients.TryGetValue(service, out ServiceClient? known))
        {
            return known;
        }

        var pool = new ServicePool(service, _meters.Services.Of(service));
        var client = new ServiceClient(
            this, pool, new ServiceSender(_router, _builders, _unread, pool, Options.TryNextWhenFull, ThrowIfEnded));
        Update(pool); // Before others see it: a request fails at once where nobody is listed.
        ServiceClient kept = _clients.GetOrAdd(service, client);
        if (ReferenceEquals(kept, client))
        {
            _meters.Clients.Add(client);
            Update(pool); // Changes that came between the two were for nobody.
        }
        else
        {
            _links.Remove(pool);
        }

        return kept;
    }

    /// <summary>Sends nothing more to a service. Its receivers are disconnected after
    /// <see cref="ServiceGatewayOptions.RemovedEndpointTimeout"/>,
    /// unless another service of this gateway lists them; its client finds nobody.</summary>
    /// <param name="service">The name.</param>
    /// <returns>False: there is no client of that name.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="service"/> is null.</exception>
    public bool RemoveClient(string service)
    {
        if (!_clients.TryRemove(service, out ServiceClient? client))
        {
            return false;
        }

        _meters.Clients.Remove(client);
        _links.Remove(client.Pool);
        return true;
    }

    /// <summary>Takes the next message that is no reply to a request, without waiting.</summary>
    /// <param name="message">The message, to be disposed.</param>
    /// <returns>False if there is none now.</returns>
    /// <exception cref="ObjectDisposedException">The gateway is disposed.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    public bool TryReceive(out GatewayMessage message)
    {
        bool found = _unread.TryReceive(out message);
        if (!found)
        {
            ThrowIfEnded();
        }

        return found;
    }

    /// <summary>Waits for the next message that is no reply to a request.</summary>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <returns>The message, to be disposed.</returns>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    /// <inheritdoc cref="TryReceive" path="/exception"/>
    public ValueTask<GatewayMessage> ReceiveAsync(CancellationToken cancellationToken = default) => _unread.ReceiveAsync(cancellationToken);

    /// <summary>All messages that are no replies to requests, until the gateway or the context ends; then the enumeration ends.</summary>
    /// <param name="cancellationToken">Ends the enumeration with an exception.</param>
    /// <returns>The messages, each to be disposed.</returns>
    public IAsyncEnumerable<GatewayMessage> ReceiveAllAsync(CancellationToken cancellationToken = default) =>
        _unread.ReceiveAllAsync(cancellationToken);

    /// <summary>Takes as many messages as there are and fit, without waiting.</summary>
    /// <param name="messages">Where they go; each to be disposed.</param>
    /// <returns>How many there were; 0 if there is none now.</returns>
    /// <inheritdoc cref="TryReceive" path="/exception"/>
    public int ReceiveMany(Span<GatewayMessage> messages)
    {
        int count = Take(messages, 0);
        if (count == 0)
        {
            ThrowIfEnded();
        }

        return count;
    }

    /// <summary>Waits for a message, and takes as many as there are and fit.</summary>
    /// <param name="messages">Where they go, at least one; each to be disposed.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <returns>How many there were, at least 1.</returns>
    /// <exception cref="ArgumentException">The memory is empty.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    /// <inheritdoc cref="TryReceive" path="/exception"/>
    public async ValueTask<int> ReceiveManyAsync(Memory<GatewayMessage> messages, CancellationToken cancellationToken = default)
    {
        if (messages.IsEmpty)
        {
            throw new ArgumentException("The buffer is empty: pass one for at least one message.", nameof(messages));
        }

        GatewayMessage first = await ReceiveAsync(cancellationToken).ConfigureAwait(false);
        messages.Span[0] = first;
        return Take(messages.Span, 1);
    }

    /// <summary>All receivers that this gateway connects to, of any service: a snapshot.</summary>
    /// <returns>One entry for each endpoint.</returns>
    public IReadOnlyList<ReceiverLinkInfo> GetReceivers() => InfosOf(_links.All);

    /// <summary>What this gateway has done so far: a snapshot.</summary>
    /// <returns>The statistics.</returns>
    public GatewayStatistics GetStatistics() => GatewayDescription.StatisticsOf(_links.All, _requests, _unread, _router);

    /// <summary>Services, receivers and counts as text of several lines, for a log or a debugger.
    /// Its form may change.</summary>
    /// <returns>The text.</returns>
    public string Describe() => GatewayDescription.Of(
        GetReceivers(),
        _clients.Values.OrderBy(static client => client.Service, StringComparer.Ordinal)
            .Select(static client => (client.Service, client.LoadBalancing, client.ReadyCount)),
        GetStatistics());

    /// <summary>Begins the end and returns at once: nothing more is sent, requests have the linger time of
    /// <see cref="ServiceGatewayOptions.Socket"/> for their replies and then end with ObjectDisposedException. Idempotent.</summary>
    public void Dispose() => _ = BeginEnd();

    /// <summary>As <see cref="Dispose"/>, and waits for that end.</summary>
    /// <returns>Complete when every wait of this gateway has ended.</returns>
    public ValueTask DisposeAsync() => new(BeginEnd());

    internal ServiceGatewayOptions Options { get; }

    internal IReadOnlyList<ReceiverLinkInfo> InfosOf(ReceiverLink[] links)
    {
        var peers = new Dictionary<ReceiverLink, PeerInfo?>();
        foreach (ReceiverLink link in links)
        {
            peers[link] = _router.TryGetPeer(link.Name, out PeerInfo? peer) ? peer : null;
        }

        return _links.Read(() => links.Select(link => GatewayDescription.InfoOf(link, peers[link])).ToArray());
    }

    internal ReceiverLink[] LinksOf(ServicePool pool) => _links.Read(() => pool.Links);

    /// <inheritdoc cref="TryReceive" path="/exception"/>
    internal void ThrowIfEnded()
    {
        if (Volatile.Read(ref _ended) is not null)
        {
            throw EndedException();
        }
    }

    internal ValueTask<ServiceReply> RequestAsync(ServicePool pool, RoutingId target, ReadOnlyMemory<byte> payload, MessageBuilder? parts,
        TimeSpan? timeout, CancellationToken cancellationToken)
    {
        TimeSpan time = timeout ?? Options.RequestTimeout;
        OptionRange.Time(time, mayBeInfinite: true, nameof(timeout));
        var call = new RequestCall(pool, target, payload, parts, time, cancellationToken);
        return ServicesTracing.IsOn ? TraceAsync(call) : SendAsync(call);
    }

    // A method of its own, so that a request without a listener allocates no closure.
    private ValueTask<ServiceReply> TraceAsync(RequestCall call) => ServicesTracing.SendAsync(call.Pool.Service, () => SendAsync(call));

    private ValueTask<ServiceReply> SendAsync(in RequestCall call)
    {
        ThrowIfEnded();
        bool isFirst = Volatile.Read(ref _requests.Counters.Started) == 0;
        ValueTask<ServiceReply> reply = _requests.SendAsync(call);
        if (isFirst)
        {
            _replies.Wake(); // It may wait until the application receives.
        }

        return reply;
    }

    private int Take(Span<GatewayMessage> messages, int count)
    {
        while (count < messages.Length && _unread.TryReceive(out messages[count]))
        {
            count++;
        }

        return count;
    }

    /// <summary>Takes the pauses over from the socket, which then makes one attempt each time.</summary>
    private static DialLimits LimitsOf(ServiceGatewayOptions options, RouterOptions socket)
    {
        var limits = new DialLimits
        {
            ConcurrentDials = options.MaxConcurrentDials,
            ConnectedPerGroup = options.MaxConnectedEndpoints,
            Seed = (uint)Guid.NewGuid().GetHashCode(),
        };
        if (socket.ReconnectInterval <= TimeSpan.Zero)
        {
            return limits; // The application wants one attempt only, or its own: the socket says that it has given up.
        }

        limits = limits with
        {
            FirstPause = socket.ReconnectInterval,
            LongestPause = socket.ReconnectIntervalMax > TimeSpan.Zero ? socket.ReconnectIntervalMax : limits.LongestPause,
        };
        socket.ReconnectInterval = Timeout.InfiniteTimeSpan;
        return limits;
    }

    private Exception EndedException() =>
        _ended is ZlinkException e ? new ZlinkException(e.Error, e.Message) : new ObjectDisposedException(nameof(ServiceGateway));

    private void Update(ServicePool pool)
    {
        pool.Update(() => _links.Apply(pool, _directory.GetService(pool.Service)));
        _inproc.Update();
    }

    private async ValueTask FollowAsync(CancellationToken cancellationToken)
    {
        await foreach (ServiceChange change in _directory.WatchAsync(service: null, cancellationToken).ConfigureAwait(false))
        {
            if (_clients.TryGetValue(change.Service, out ServiceClient? client))
            {
                Update(client.Pool);
            }
        }

        // The directory has ended: the last state stays.
        await Task.Delay(Timeout.InfiniteTimeSpan, Context.TimeProvider, cancellationToken).ConfigureAwait(false);
    }

    /// <summary>The context may end first: all waits end with that.</summary>
    private async Task OnSocketEndedAsync()
    {
        await _loops[0].Completion.ConfigureAwait(false);
        Exception ended = new ObjectDisposedException(nameof(ServiceGateway));
        try
        {
            _router.CanSendTo(new byte[1]); // Throws what the socket has ended with.
        }
        catch (Exception e) when (e is ZlinkException or ObjectDisposedException)
        {
            ended = e;
        }

        Complete(ended);
    }

    private void Complete(Exception ended)
    {
        Interlocked.CompareExchange(ref _ended, ended, null);
        _links.Stop();
        _requests.End(ended);
        _unread.End(EndedException);
        foreach (ServiceClient client in _clients.Values)
        {
            _meters.Clients.Remove(client);
            _links.Remove(client.Pool);
        }

        _inproc.Dispose();
        _events.Dispose();
        _meters.Gateways.Remove(_metrics);
        _builders.Dispose();
        _requests.Ejections.Dispose();
        _requests.Dispose();
        foreach (BackgroundLoop loop in _loops)
        {
            loop.Stop();
        }
    }

    private Task BeginEnd()
    {
        lock (_gate)
        {
            return _end ??= EndAsync();
        }
    }

    private async Task EndAsync()
    {
        Interlocked.CompareExchange(ref _ended, new ObjectDisposedException(nameof(ServiceGateway)), null);
        await Task.CompletedTask.ConfigureAwait(ConfigureAwaitOptions.ForceYielding); // Off the caller's lock.
        await _requests.Pending.WhenEmptyAsync().WaitAsync(Options.Socket.Linger ?? Timeout.InfiniteTimeSpan, Context.TimeProvider)
            .ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        _router.Dispose();
        _replies.Wake();
        await _loops[0].Completion.ConfigureAwait(false);
        Complete(_ended!);
        await Task.WhenAll(_loops.Select(static loop => loop.Completion)).ConfigureAwait(false);
    }
}
