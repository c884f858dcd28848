namespace Net.Zlink.Services;

/// <summary>Sends requests of any type to one service, in one line each.</summary>
/// <example>
/// <code>
/// await using var client = new RequestClient(context, "tcp://server:5555", new JsonMessageSerializer(Contracts.Default));
/// Quote quote = await client.RequestAsync&lt;Ask, Quote&gt;(new Ask("EUR"), TimeSpan.FromSeconds(1), cancellation);
/// </code>
/// </example>
/// <remarks>Safe for any number of threads. A request allocates nothing but its reply in steady state.</remarks>
public sealed class RequestClient : IAsyncDisposable, IDisposable
{
    /// <summary>What a client calls the service of an endpoint that it was given by address.</summary>
    public const string DefaultService = "requests";

    private readonly IMessageSerializer _serializer;
    private readonly IRequestPolicy? _policy;
    private readonly Gateway? _gateway;

    /// <summary>A client of a service that a gateway knows.</summary>
    /// <param name="service">From <see cref="Gateway.GetService"/>. The gateway stays the caller's.</param>
    /// <param name="serializer">Writes requests and reads replies.</param>
    /// <param name="policy">Runs each request; null: once.</param>
    /// <exception cref="ArgumentNullException">Service or serializer is null.</exception>
    public RequestClient(ServiceClient service, IMessageSerializer serializer, IRequestPolicy? policy = null)
    {
        ArgumentNullException.ThrowIfNull(service);
        ArgumentNullException.ThrowIfNull(serializer);
        Service = service;
        _serializer = serializer;
        _policy = policy;
    }

    /// <summary>A client of a receiver whose address is known, with a gateway of its own and without a registry.</summary>
    /// <param name="context">Makes the socket. Dispose the client before it.</param>
    /// <param name="endpoint">Where the receiver listens.</param>
    /// <param name="serializer">Writes requests and reads replies.</param>
    /// <param name="service">The name of the service, which a receiver with registrations checks.</param>
    /// <param name="options">Options of the gateway; null: the defaults.</param>
    /// <param name="policy">Runs each request; null: once.</param>
    /// <exception cref="ArgumentNullException">Context, endpoint or serializer is null.</exception>
    /// <exception cref="ArgumentException">The endpoint or the name is empty or too long.</exception>
    /// <exception cref="ZlinkException">TooManySockets. ContextTerminated.</exception>
    public RequestClient(ZlinkContext context, string endpoint, IMessageSerializer serializer, string service = DefaultService,
        GatewayOptions? options = null, IRequestPolicy? policy = null)
    {
        ArgumentNullException.ThrowIfNull(context);
        ArgumentNullException.ThrowIfNull(serializer);
        _gateway = new Gateway(
            context, new StaticDirectory(context.TimeProvider, new ServiceInstance(service, endpoint)), options);
        Service = _gateway.GetService(service);
        _serializer = serializer;
        _policy = policy;
    }

    /// <summary>The service, for requests in bytes and for its receivers.</summary>
    public ServiceClient Service { get; }

    /// <summary>Sends a request and waits for its reply.</summary>
    /// <param name="request">The request.</param>
    /// <param name="timeout">How long each attempt may take; null: <see cref="GatewayOptions.RequestTimeout"/>. The receiver learns of it,
    /// and does not execute a request whose time has passed.</param>
    /// <param name="cancellationToken">Ends the wait; the receiver learns of that.</param>
    /// <typeparam name="TRequest">The request's type.</typeparam>
    /// <typeparam name="TReply">The reply's type.</typeparam>
    /// <returns>The reply. Await it once.</returns>
    /// <inheritdoc cref="TypedRequests.RequestAsync" path="/exception"/>
    public ValueTask<TReply> RequestAsync<TRequest, TReply>(
        TRequest request, TimeSpan? timeout = null, CancellationToken cancellationToken = default) =>
        _policy is null
            ? Service.RequestAsync<TRequest, TReply>(request, _serializer, timeout, cancellationToken)
            : _policy.ExecuteAsync(
                static (state, token) => state.Client.Service.RequestAsync<TRequest, TReply>(
                    state.Request, state.Client._serializer, state.Timeout, token),
                (Client: this, Request: request, Timeout: timeout), cancellationToken);

    /// <summary>Ends the gateway that the client made; a gateway of the caller's goes on. Returns at once.</summary>
    public void Dispose() => _gateway?.Dispose();

    /// <summary>As <see cref="Dispose"/>, and waits as <see cref="Gateway.DisposeAsync"/> does.</summary>
    /// <returns>Complete when the gateway has ended.</returns>
    public ValueTask DisposeAsync() => _gateway?.DisposeAsync() ?? ValueTask.CompletedTask;
}

/// <summary>Runs the requests of a <see cref="RequestClient"/>, each perhaps several times: retries, hedging, a circuit breaker.</summary>
/// <remarks>Implementations are safe for any number of threads. <see cref="ServiceException.WasExecuted"/> tells whether it is safe to send
/// a failed request again.</remarks>
public interface IRequestPolicy
{
    /// <summary>Runs one request.</summary>
    /// <param name="attempt">Sends the request once and waits for its reply.</param>
    /// <param name="state">To be passed to each attempt.</param>
    /// <param name="cancellationToken">The caller's.</param>
    /// <typeparam name="TState">What an attempt needs.</typeparam>
    /// <typeparam name="TReply">The reply.</typeparam>
    /// <returns>The reply of an attempt.</returns>
    ValueTask<TReply> ExecuteAsync<TState, TReply>(
        Func<TState, CancellationToken, ValueTask<TReply>> attempt, TState state, CancellationToken cancellationToken);
}
