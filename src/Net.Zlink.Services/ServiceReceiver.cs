using System.Buffers;
using System.Globalization;
using System.Runtime.CompilerServices;
using System.Text;
using Microsoft.Extensions.Logging;

namespace Net.Zlink.Services;

/// <summary>Serves requests of gateways: binds, registers with registries, receives and answers.</summary>
/// <remarks>
/// Safe for any number of threads. There are three ways to receive: <see cref="ServeAsync"/> with a handler, <see cref="ReceiveAsync"/> and
/// its siblings, and the raw <see cref="Socket"/>, as in the native core.
/// Use one of them at a time; the first two keep something of their own as the user state of each connection.
/// </remarks>
/// <example>
/// <code>
/// await using var receiver = new ServiceReceiver(context);
/// receiver.Bind("tcp://*:5555");
/// receiver.ConnectRegistry("tcp://registry:5561");
/// receiver.Register("echo");
/// await receiver.ServeAsync((request, cancellationToken) => request.ReplyAsync(request.Memory, cancellationToken));
/// </code>
/// </example>
public sealed class ServiceReceiver : IAsyncDisposable, IDisposable
{
    private readonly ZlinkContext _context;
    private readonly ServiceReceiverOptions _options;
    private readonly ReceiverRequests _requests;
    private readonly RegistrationSet _registrations;
    private readonly ServicesMeters _meters;
    private int _isServing;
    private int _isDisposed;

    /// <summary>Makes a receiver; it listens nowhere yet.</summary>
    /// <param name="context">Makes its sockets. Dispose the receiver before it.</param>
    /// <param name="options">Its options; null: the defaults.</param>
    /// <exception cref="ArgumentNullException"><paramref name="context"/> is null.</exception>
    /// <exception cref="ArgumentException">An option is out of its range; the message names it.</exception>
    /// <exception cref="ZlinkException">TooManySockets. ContextTerminated.</exception>
    /// <exception cref="ObjectDisposedException">The context is disposed.</exception>
    public ServiceReceiver(ZlinkContext context, ServiceReceiverOptions? options = null)
    {
        ArgumentNullException.ThrowIfNull(context);
        _context = context;
        _options = (options ?? new ServiceReceiverOptions()).ValidCopy();

        // Two gateways may have one id: each is answered by its connection.
        _options.Socket.OnDuplicateRoutingId = DuplicateRoutingId.Share;
        Socket = context.CreateRouter(_options.Socket);
        ILogger logger = context.LoggerFactory.CreateLogger(ServicesLog.Category);
        _registrations = new RegistrationSet(context, ServiceKind.Receiver,
            new RegistrationSettings(_options.HeartbeatInterval, _options.AckTimeout, _options.RegistrySocket));
        _requests = new ReceiverRequests(Socket, context.TimeProvider, logger);
        _meters = ServicesMeters.Of(context);
        _meters.Receivers.Add(this);
    }

    /// <summary>The socket that gateways connect to, for receiving and answering as in the native core. Its messages are what was sent,
    /// with the envelope of requests as an extra first part.</summary>
    public RouterSocket Socket { get; }

    /// <summary>What the socket calls itself. Registries list it for the first advertised endpoint if it was given: by
    /// <see cref="ServiceReceiverOptions.Socket"/>, or by the options of <see cref="Socket"/> before
    /// <see cref="ConnectRegistry"/>.</summary>
    public RoutingId RoutingId => Socket.Options.RoutingId;

    /// <summary>Whether <see cref="DrainAsync"/> was called: the receiver refuses requests, or is about to.</summary>
    public bool IsDraining => _requests.IsDraining;

    /// <summary>Listens for gateways. May be called for several endpoints.</summary>
    /// <param name="endpoint">As for <see cref="ZlinkSocket.Bind"/>.</param>
    /// <returns>The endpoint with what the system filled in.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="endpoint"/> is null.</exception>
    /// <exception cref="ZlinkException">As for <see cref="ZlinkSocket.Bind"/>.</exception>
    /// <exception cref="ObjectDisposedException">The receiver is disposed.</exception>
    public string Bind(string endpoint) => Socket.Bind(endpoint);

    /// <summary>Adds a registry: what is registered, now and later, is registered there, too, as soon as it can be reached.</summary>
    /// <param name="routerEndpoint">The router endpoint of the registry. One that was added before stays as it is.</param>
    /// <exception cref="ArgumentNullException"><paramref name="routerEndpoint"/> is null.</exception>
    /// <exception cref="ZlinkException">InvalidArgument, ProtocolNotSupported: that is no endpoint; nothing was added.</exception>
    /// <exception cref="ObjectDisposedException">The receiver is disposed.</exception>
    public void ConnectRegistry(string routerEndpoint)
    {
        ArgumentNullException.ThrowIfNull(routerEndpoint);
        if (_registrations.Registries.Length == 0 && RoutingId is var given && !_options.IsMadeUp(given))
        {
            _registrations.GivenId = given; // As in the native core: programs set ROUTING_ID on the receiver's router first.
        }

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

    /// <summary>Offers a service at every registry. Returns at once and goes on trying: see
    /// <see cref="ServiceRegistration.State"/>.</summary>
    /// <param name="service">The name, 1 to 255 bytes of UTF-8.</param>
    /// <param name="advertise">The endpoint that gateways connect to, 1 to 255 bytes. Null: the endpoint that was bound last, with
    /// <see cref="ServiceReceiverOptions.AdvertiseHost"/> in place of a wildcard.</param>
    /// <param name="weight">Its share with weighted load balancing; 0 is taken for 1, as in the native core.</param>
    /// <returns>The registration; dispose it to leave the registries.</returns>
    /// <exception cref="ArgumentException">The name or the endpoint is empty or too long, or nobody can connect to the
    /// endpoint.</exception>
    /// <exception cref="InvalidOperationException">Nothing is bound and no endpoint was given, the service is registered at that endpoint
    /// already, or the receiver is being drained.</exception>
    /// <exception cref="ObjectDisposedException">The receiver is disposed.</exception>
    public ServiceRegistration Register(string service, string? advertise = null, uint weight = 1)
    {
        ServiceText name = ServiceText.Checked(service, nameof(service));
        if (_requests.IsDraining)
        {
            throw new InvalidOperationException("This receiver is being drained: it accepts no further registration.");
        }

        ServiceRegistration registration = _registrations.Add(
            name, AdvertisedEndpoint.Resolve(advertise, Socket.LastEndpoint, _options.AdvertiseHost), weight);
        _requests.AddService(service);
        return registration;
    }

    /// <summary>Offers a service at every registry and waits for the first registry that accepts it.</summary>
    /// <param name="service">The name, 1 to 255 bytes of UTF-8.</param>
    /// <param name="advertise">As for <see cref="Register"/>.</param>
    /// <param name="weight">As for <see cref="Register"/>.</param>
    /// <param name="cancellationToken">Ends the wait, and the registration with it.</param>
    /// <returns>The registration; dispose it to leave the registries.</returns>
    /// <exception cref="ArgumentException">The name or the endpoint is empty or too long, or nobody can connect to the
    /// endpoint.</exception>
    /// <exception cref="InvalidOperationException">There is no registry, or as for <see cref="Register"/>.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    /// <exception cref="ServiceException">RegistrationRefused: each registry that can be reached refused it, with its status byte and text;
    /// nothing is registered.</exception>
    /// <exception cref="ObjectDisposedException">The receiver is disposed.</exception>
    public Task<ServiceRegistration> RegisterAsync(
        string service, string? advertise = null, uint weight = 1, CancellationToken cancellationToken = default) =>
        _registrations.RegisterAsync(() => Register(service, advertise, weight), cancellationToken);

    /// <summary>Takes the next request, if there is one.</summary>
    /// <param name="request">The request; dispose it.</param>
    /// <returns>False if there is none now.</returns>
    /// <exception cref="InvalidOperationException"><see cref="ServeAsync"/> is running.</exception>
    /// <exception cref="ObjectDisposedException">The receiver is disposed.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    public bool TryReceive(out ServiceRequest request)
    {
        ThrowIfServing();
        while (Socket.TryReceive(out Message message))
        {
            if (_requests.TryAccept(message, loop: null, out request))
            {
                return true;
            }
        }

        request = default;
        return false;
    }

    /// <summary>Waits for the next request. Any number may wait.</summary>
    /// <param name="cancellationToken">Ends the wait; no request is lost by it.</param>
    /// <returns>The request; dispose it.</returns>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    /// <inheritdoc cref="TryReceive" path="/exception"/>
    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    public async ValueTask<ServiceRequest> ReceiveAsync(CancellationToken cancellationToken = default)
    {
        while (true)
        {
            ThrowIfServing();
            Message message = await Socket.ReceiveAsync(cancellationToken).ConfigureAwait(false);
            if (_requests.TryAccept(message, loop: null, out ServiceRequest request))
            {
                return request;
            }
        }
    }

    /// <summary>Takes as many requests as there are and fit, without waiting.</summary>
    /// <param name="requests">Where to put them; dispose each that was put.</param>
    /// <returns>How many; 0 if there is none.</returns>
    /// <inheritdoc cref="TryReceive" path="/exception"/>
    public int ReceiveMany(Span<ServiceRequest> requests)
    {
        ThrowIfServing();
        Message[] messages = ArrayPool<Message>.Shared.Rent(requests.Length);
        try
        {
            int accepted = 0;
            while (accepted == 0 && !requests.IsEmpty && Socket.ReceiveMany(messages.AsSpan(0, requests.Length)) is var count and > 0)
            {
                accepted = Accept(messages.AsSpan(0, count), requests); // None: all of them were cancels or refused.
            }

            return accepted;
        }
        finally
        {
            ArrayPool<Message>.Shared.Return(messages, clearArray: true);
        }
    }

    /// <summary>Waits until there is a request, then takes as many as there are and fit.</summary>
    /// <param name="requests">Where to put them; not empty. Dispose each that was put.</param>
    /// <param name="cancellationToken">Ends the wait; no request is lost by it.</param>
    /// <returns>How many, at least 1.</returns>
    /// <exception cref="ArgumentException"><paramref name="requests"/> is empty.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    /// <inheritdoc cref="TryReceive" path="/exception"/>
    public async ValueTask<int> ReceiveManyAsync(Memory<ServiceRequest> requests, CancellationToken cancellationToken = default)
    {
        ThrowIfServing();
        Message[] messages = ArrayPool<Message>.Shared.Rent(Math.Max(1, requests.Length));
        try
        {
            int accepted = 0;
            while (accepted == 0)
            {
                int count = await Socket.ReceiveManyAsync(messages.AsMemory(0, requests.Length), cancellationToken).ConfigureAwait(false);
                accepted = Accept(messages.AsSpan(0, count), requests.Span);
            }

            return accepted;
        }
        finally
        {
            ArrayPool<Message>.Shared.Return(messages, clearArray: true);
        }
    }

    /// <summary>All requests until the receiver is disposed or its context shut down; then the enumeration ends.</summary>
    /// <param name="cancellationToken">Ends the enumeration with an exception; no request is lost by it.</param>
    /// <returns>The requests; dispose each.</returns>
    public async IAsyncEnumerable<ServiceRequest> ReceiveAllAsync([EnumeratorCancellation] CancellationToken cancellationToken = default)
    {
        ThrowIfServing();
        await foreach (Message message in Socket.ReceiveAllAsync(cancellationToken).ConfigureAwait(false))
        {
            if (_requests.TryAccept(message, loop: null, out ServiceRequest request))
            {
                yield return request;
            }
        }
    }

    /// <summary>Serves requests with a handler until the token is cancelled or the receiver is disposed.</summary>
    /// <remarks>
    /// A handler runs on the thread that received its request until its first wait. Handlers that block, or compute for long, run one after
    /// the other then, whatever <paramref name="maxConcurrency"/> says: set <see cref="ServiceReceiverOptions.RunHandlersOnPool"/>.
    /// The loop disposes the request when the handler has ended.
    /// A handler that throws, or that ends without a reply to a request that expects one, is answered for with a failure. Of a
    /// <see cref="ServiceException"/> the caller gets code and text, of others the name of the type. A request whose time is over, or that
    /// its gateway cancelled, is not begun.
    /// </remarks>
    /// <param name="handler">Called for each request, in the order of arrival. Its token ends with the request: cancelled by the gateway,
    /// by the time that the request has, and by the end of this loop.</param>
    /// <param name="maxConcurrency">How many handlers run at once.</param>
    /// <param name="cancellationToken">Ends the loop: requests that have not begun are refused, so that gateways send them elsewhere; the
    /// tokens of those that have are cancelled.</param>
    /// <returns>Complete when the receiver was disposed, or its context shut down, and the last handler has ended.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="handler"/> is null.</exception>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="maxConcurrency"/> is less than 1.</exception>
    /// <exception cref="InvalidOperationException">The receiver is served already.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled, and the last handler has ended.</exception>
    /// <exception cref="ObjectDisposedException">The receiver is disposed.</exception>
    public Task ServeAsync(Func<ServiceRequest, CancellationToken, ValueTask> handler, int maxConcurrency = 64,
        CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(handler);
        ArgumentOutOfRangeException.ThrowIfLessThan(maxConcurrency, 1);
        ObjectDisposedException.ThrowIf(Volatile.Read(ref _isDisposed) != 0, this);
        return Interlocked.CompareExchange(ref _isServing, 1, 0) == 0 ? ServeUntilEndAsync(handler, maxConcurrency, cancellationToken)
            : throw new InvalidOperationException("This receiver is served already: use a larger maxConcurrency instead of a second loop.");
    }

    /// <summary>Takes the receiver out of service without losing a request: leaves the registries, tells gateways with each reply, then
    /// refuses requests, and ends when it is idle. Dispose the receiver after that.</summary>
    /// <remarks>Go on serving meanwhile. Native gateways cut their connection when the registry drops the receiver, whatever it does: what
    /// they had queued is lost.</remarks>
    /// <param name="options">How long; null: the defaults.</param>
    /// <param name="cancellationToken">Ends the wait; the receiver stays unregistered and goes on telling the gateways.</param>
    /// <returns>What happened; complete when the receiver is idle or the deadline has come.</returns>
    /// <exception cref="InvalidOperationException">The receiver is being drained already.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    /// <exception cref="ObjectDisposedException">The receiver is disposed.</exception>
    public Task<DrainReport> DrainAsync(DrainOptions? options = null, CancellationToken cancellationToken = default)
    {
        ObjectDisposedException.ThrowIf(Volatile.Read(ref _isDisposed) != 0, this);
        return _requests.TryBeginDrain() ? Drain.RunAsync(
            _requests, (options ?? new DrainOptions()).ValidCopy(), _registrations.RemoveAllAsync, cancellationToken)
            : throw new InvalidOperationException("This receiver is being drained already.");
    }

    /// <summary>What the receiver has done so far: a snapshot.</summary>
    /// <returns>The statistics.</returns>
    public ReceiverStatistics GetStatistics() => _requests.Counters.ToStatistics(_requests.Running);

    /// <summary>Endpoints, registrations and counts as text of several lines, for a log or a debugger.
    /// Its form may change.</summary>
    /// <returns>The text.</returns>
    public string Describe()
    {
        ReceiverStatistics statistics = GetStatistics();
        var text = new StringBuilder();
        IEnumerable<RedactedEndpoint> bound = Socket.BoundEndpoints.Select(static endpoint => new RedactedEndpoint(endpoint));
        text.Append(CultureInfo.InvariantCulture, $"Receiver {RoutingId}, bound to {string.Join(", ", bound)}");
        text.AppendLine(_requests.IsRefusing ? ", draining and refusing" : _requests.IsDraining ? ", draining" : "");
        text.AppendLine(CultureInfo.InvariantCulture,
            $"  requests {statistics.Requests}, replies {statistics.Replies}, failed {statistics.Failed}, refused {statistics.Refused} "
            + $"({statistics.Expired} expired), cancelled {statistics.Cancelled}, running {statistics.Running}; "
            + $"plain messages {statistics.PlainMessages}, handlers that threw {statistics.HandlerFaults}, "
            + $"lost replies {statistics.LostReplies}, ids used twice {statistics.DuplicateIds}");
        foreach (ServiceRegistration registration in _registrations.Registrations)
        {
            text.AppendLine(CultureInfo.InvariantCulture,
                $"  {registration.Service} at {new RedactedEndpoint(registration.Endpoint)}, weight {registration.Weight}: "
                + $"{registration.State}");
            foreach (RegistryStatus status in registration.GetRegistries())
            {
                text.AppendLine(CultureInfo.InvariantCulture,
                    $"    {new RedactedEndpoint(status.RegistryEndpoint)}: {status.State}, accepted at {status.AcceptedAt:O}, "
                    + $"last heartbeat at {status.LastHeartbeatAt:O} {status.Detail}");
            }
        }

        return text.ToString();
    }

    /// <summary>Begins the end and returns at once: leaves the registries, ends <see cref="ServeAsync"/>; accepted replies have the
    /// socket's linger time to leave. Idempotent.</summary>
    public void Dispose() => _ = DisposeAsync().AsTask();

    /// <summary>As <see cref="Dispose"/>, and waits until the registries that are connected were notified.</summary>
    /// <returns>Complete when the socket is disposed; handlers may still be running.</returns>
    public async ValueTask DisposeAsync()
    {
        if (Interlocked.Exchange(ref _isDisposed, 1) != 0)
        {
            return;
        }

        await _registrations.DisposeAsync().ConfigureAwait(false);
        Socket.Dispose();
        _requests.Dispose();
        _meters.Receivers.Remove(this);
    }

    /// <summary>What metrics call it: the service that it was registered for first; empty without a registration.</summary>
    internal string MeteredService => _requests.Served is [var first, ..] ? Encoding.UTF8.GetString(first) : "";

    internal long Reregistrations => _registrations.Links.Sum(static link => link.Reregistrations);

    internal IEnumerable<Reading> RegistrationStates() => _registrations.Registrations
        .CountBy(static registration => registration.State)
        .Select(static count => Reading.InState(count.Value, count.Key.ToString()));

    internal IEnumerable<Reading> Consumed()
    {
        ReceiverStatistics statistics = GetStatistics();
        return
        [
            new(statistics.Replies + statistics.PlainMessages),
            new(statistics.Failed, MessagingTags.Error, ErrorTypes.Failed),
            new(statistics.Cancelled, MessagingTags.Error, ErrorTypes.Cancelled),
        ];
    }

    private async Task ServeUntilEndAsync(Func<ServiceRequest, CancellationToken, ValueTask> handler, int maxConcurrency,
        CancellationToken cancellationToken)
    {
        try
        {
            await new ServeLoop(_requests, handler, maxConcurrency, _options, new QueueReservation(_context),
                    _meters.ProcessDuration, _meters.Services)
                .RunAsync(cancellationToken).ConfigureAwait(false);
        }
        finally
        {
            Volatile.Write(ref _isServing, 0);
        }
    }

    private int Accept(ReadOnlySpan<Message> messages, Span<ServiceRequest> requests)
    {
        int accepted = 0;
        foreach (Message message in messages)
        {
            if (_requests.TryAccept(message, loop: null, out ServiceRequest request))
            {
                requests[accepted++] = request;
            }
        }

        return accepted;
    }

    private void ThrowIfServing()
    {
        if (Volatile.Read(ref _isServing) != 0)
        {
            throw new InvalidOperationException("ServeAsync receives this receiver's requests: end it before you call a receive method.");
        }
    }
}
