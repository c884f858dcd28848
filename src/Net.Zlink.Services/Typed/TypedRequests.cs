using System.Runtime.CompilerServices;
using Net.Zlink.Buffers;

namespace Net.Zlink.Services;

/// <summary>Requests with values instead of bytes: <see cref="ServiceClient"/> and <see cref="ServiceReceiver"/> with a
/// serializer.</summary>
public static class TypedRequests
{
    // One is held for the whole of a request, so as many are kept as requests may be outstanding: 256 bytes and more each.
    private static readonly MessageBuilderPool Builders = new(BufferPool.Shared, maxKept: 1024);

    /// <summary>Sends a request and waits for its reply, both as values.</summary>
    /// <remarks>Both sides say the same types. What <typeparamref name="TRequest"/> does not declare is not written: a Circle is asked as a
    /// Shape with <c>RequestAsync&lt;Shape, TReply&gt;</c> and a <c>[JsonDerivedType]</c> of Shape. As <c>RequestAsync&lt;Circle,
    /// TReply&gt;</c> it arrives at a handler of Shape as a bare Shape.</remarks>
    /// <param name="service">The service.</param>
    /// <param name="request">The request.</param>
    /// <param name="serializer">Writes the request before the call returns, and reads the reply.</param>
    /// <param name="timeout">As for <see cref="ServiceClient.RequestAsync(ReadOnlyMemory{byte}, TimeSpan?, CancellationToken)"/>.</param>
    /// <param name="cancellationToken">Ends the wait; the receiver learns of that.</param>
    /// <typeparam name="TRequest">The request's type.</typeparam>
    /// <typeparam name="TReply">The reply's type.</typeparam>
    /// <returns>The reply.</returns>
    /// <exception cref="TimeoutException">No reply came in time; the message says why. The request may have been executed, or may be being
    /// executed; a receiver that has not begun it does not begin it any more.</exception>
    /// <exception cref="ServiceException">NoReceiver, at once: no receiver serves it or can be reached. Refused: no receiver executed it.
    /// Failed: its handler threw, with code and text where it threw a <see cref="ServiceException"/>; or it could not be read and was not
    /// executed. ReceiverLost: the connection ended before the reply.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    /// <exception cref="ObjectDisposedException">The gateway is disposed.</exception>
    /// <exception cref="Exception">The reply is no such value: the serializer's exception.</exception>
    public static ValueTask<TReply> RequestAsync<TRequest, TReply>(this ServiceClient service, TRequest request,
        IMessageSerializer serializer, TimeSpan? timeout = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(service);
        return AskAsync<TRequest, TReply>(service, default, request, serializer, timeout, cancellationToken);
    }

    /// <inheritdoc cref="RequestAsync{TRequest, TReply}(ServiceClient, TRequest, IMessageSerializer, TimeSpan?, CancellationToken)"/>
    /// <param name="receiver">One receiver of the service, the only one that gets the request.</param>
    /// <param name="request">The request.</param>
    /// <param name="serializer">Writes the request before the call returns, and reads the reply.</param>
    /// <param name="timeout">As for <see cref="ServiceClient.RequestAsync(ReadOnlyMemory{byte}, TimeSpan?, CancellationToken)"/>.</param>
    /// <param name="cancellationToken">Ends the wait; the receiver learns of that.</param>
    public static ValueTask<TReply> RequestAsync<TRequest, TReply>(this ReceiverClient receiver, TRequest request,
        IMessageSerializer serializer, TimeSpan? timeout = null, CancellationToken cancellationToken = default) =>
        AskAsync<TRequest, TReply>(receiver.Service, receiver.RoutingId, request, serializer, timeout, cancellationToken);

    /// <summary>Serves requests with a handler that takes and returns values; for the rest as
    /// <see cref="ServiceReceiver.ServeAsync"/>.</summary>
    /// <remarks>A request that cannot be read is answered with a failure, and the handler does not see it. A serializer that does not know
    /// the type (<see cref="NotSupportedException"/>) refuses it instead, so that another receiver may be asked, and the log says so once.
    /// A handler that throws fails its own request: see <see cref="ServiceReceiver.ServeAsync"/>.</remarks>
    /// <param name="receiver">The receiver.</param>
    /// <param name="handler">Called for each request. Its token ends with the request.</param>
    /// <param name="serializer">Reads requests and writes replies.</param>
    /// <param name="maxConcurrency">How many handlers run at once.</param>
    /// <param name="cancellationToken">Ends the loop: requests that have not begun are refused.</param>
    /// <typeparam name="TRequest">The request's type.</typeparam>
    /// <typeparam name="TReply">The reply's type.</typeparam>
    /// <returns>Complete when the receiver was disposed, or its context shut down, and the last handler has ended.</returns>
    /// <exception cref="ArgumentNullException">An argument is null.</exception>
    /// <exception cref="InvalidOperationException">The receiver is served already.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled, and the last handler has ended.</exception>
    /// <exception cref="ObjectDisposedException">The receiver is disposed.</exception>
    public static Task ServeAsync<TRequest, TReply>(
        this ServiceReceiver receiver, Func<TRequest, CancellationToken, ValueTask<TReply>> handler,
        IMessageSerializer serializer, int maxConcurrency = 64, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(receiver);
        ArgumentNullException.ThrowIfNull(handler);
        ArgumentNullException.ThrowIfNull(serializer);
        return receiver.ServeAsync((request, token) => AnswerAsync(request, handler, serializer, token), maxConcurrency, cancellationToken);
    }

    /// <summary>Answers one request with what a handler makes of it, for a loop of the application's own.</summary>
    /// <param name="request">The request; stays the caller's.</param>
    /// <param name="handler">Makes the reply.</param>
    /// <param name="serializer">Reads the request and writes the reply.</param>
    /// <param name="cancellationToken">Passed to the handler.</param>
    /// <typeparam name="TRequest">The request's type.</typeparam>
    /// <typeparam name="TReply">The reply's type.</typeparam>
    /// <returns>Complete when the reply was accepted, or the request was answered with a failure.</returns>
    /// <exception cref="ArgumentNullException">An argument is null.</exception>
    /// <exception cref="ZlinkException">HostUnreachable: the gateway no longer waits for the reply. ContextTerminated.</exception>
    /// <exception cref="ObjectDisposedException">The receiver is disposed.</exception>
    /// <exception cref="Exception">What the handler throws.</exception>
    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder))]
    public static async ValueTask AnswerAsync<TRequest, TReply>(this ServiceRequest request,
        Func<TRequest, CancellationToken, ValueTask<TReply>> handler, IMessageSerializer serializer,
        CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(handler);
        ArgumentNullException.ThrowIfNull(serializer);
        if (!TryRead(request, serializer, out TRequest value))
        {
            return;
        }

        TReply reply = await handler(value, cancellationToken).ConfigureAwait(false);
        using var rented = new RentedBuilder(Builders);
        try
        {
            rented.Message.Add(reply, serializer);
        }
        catch (Exception e)
        {
            request.Requests.NoteSerializerFault(typeof(TReply), e);
            request.TryFail(FailureCode.ReplyNotWritten, $"the reply {typeof(TReply).Name} could not be written: {e.GetType().Name}");
            return;
        }

        if (request.TryReply(rented.Message).Reason == SendFailure.Full)
        {
            await request.ReplyAsync(rented.Message, cancellationToken).ConfigureAwait(false);
        }
    }

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    private static async ValueTask<TReply> AskAsync<TRequest, TReply>(ServiceClient service, RoutingId target, TRequest request,
        IMessageSerializer serializer, TimeSpan? timeout, CancellationToken cancellationToken)
    {
        ArgumentNullException.ThrowIfNull(serializer);
        using var rented = new RentedBuilder(Builders);
        rented.Message.Add(request, serializer);
        using ServiceReply reply = await service.RequestAsync(target, payload: default, rented.Message, timeout, cancellationToken)
            .ConfigureAwait(false);
        return serializer.Deserialize<TReply>(reply.Span);
    }

    private static bool TryRead<TRequest>(in ServiceRequest request, IMessageSerializer serializer, out TRequest value)
    {
        try
        {
            value = serializer.Deserialize<TRequest>(request.Span);
            return true;
        }
        catch (NotSupportedException e)
        {
            request.Requests.NoteSerializerFault(typeof(TRequest), e);
            request.TryRefuse(RefusalCode.NoSerializer, $"the serializer of the receiver does not know {typeof(TRequest).Name}");
            value = default!;
            return false;
        }
        catch (Exception e)
        {
            // Any peer can send such a request: it is counted as failed, and fills no log.
            request.TryFail(FailureCode.Malformed, $"the request is not a {typeof(TRequest).Name}: {e.GetType().Name}");
            value = default!;
            return false;
        }
    }
}

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
    private readonly ServiceGateway? _gateway;

    /// <summary>A client of a service that a gateway knows.</summary>
    /// <param name="service">From <see cref="ServiceGateway.GetClient"/>. The gateway stays the caller's.</param>
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
        ServiceGatewayOptions? options = null, IRequestPolicy? policy = null)
    {
        ArgumentNullException.ThrowIfNull(context);
        ArgumentNullException.ThrowIfNull(serializer);
        _gateway = new ServiceGateway(
            context, new StaticDirectory(context.TimeProvider, new ServiceInstance(service, endpoint)), options);
        Service = _gateway.GetClient(service);
        _serializer = serializer;
        _policy = policy;
    }

    /// <summary>The service, for requests in bytes and for its receivers.</summary>
    public ServiceClient Service { get; }

    /// <summary>Sends a request and waits for its reply.</summary>
    /// <param name="request">The request.</param>
    /// <param name="timeout">How long each attempt may take; null: <see cref="ServiceGatewayOptions.RequestTimeout"/>. The receiver
    /// learns of it, and does not execute a request whose time has passed.</param>
    /// <param name="cancellationToken">Ends the wait; the receiver learns of that.</param>
    /// <typeparam name="TRequest">The request's type.</typeparam>
    /// <typeparam name="TReply">The reply's type.</typeparam>
    /// <returns>The reply. Await it once.</returns>
    /// <inheritdoc path="/exception"
    /// cref="TypedRequests.RequestAsync{TRequest, TReply}(ServiceClient, TRequest, IMessageSerializer, TimeSpan?, CancellationToken)"/>
    public ValueTask<TReply> RequestAsync<TRequest, TReply>(
        TRequest request, TimeSpan? timeout = null, CancellationToken cancellationToken = default) =>
        _policy is null
            ? Service.RequestAsync<TRequest, TReply>(request, _serializer, timeout, cancellationToken)
            : _policy.ExecuteAsync(
                static (state, token) => state.Client.Service.RequestAsync<TRequest, TReply>(
                    state.Request, state.Client._serializer, state.Timeout, token),
                (Client: this, Request: request, Timeout: timeout), cancellationToken);

    /// <summary>Ends the gateway that the client created, but not one of the caller's. Returns at once.</summary>
    public void Dispose() => _gateway?.Dispose();

    /// <summary>As <see cref="Dispose"/>, and waits as <see cref="ServiceGateway.DisposeAsync"/> does.</summary>
    /// <returns>Complete when the gateway has ended.</returns>
    public ValueTask DisposeAsync() => _gateway?.DisposeAsync() ?? ValueTask.CompletedTask;
}

/// <summary>Runs the requests of a <see cref="RequestClient"/>, each perhaps several times: retries, hedging, a circuit breaker.</summary>
/// <remarks>Implementations are safe for any number of threads. <see cref="ServiceException.WasExecuted"/> says whether it is safe to send
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

/// <summary>Serves requests of one type at an endpoint, in one line.</summary>
/// <example>
/// <code>
/// await using var server = new RequestServer(context, "tcp://*:5555", new JsonMessageSerializer(Contracts.Default));
/// await server.ServeAsync&lt;Ask, Quote&gt;((ask, token) => PriceOfAsync(ask.Currency, token), maxConcurrency: 256, cancellation);
/// </code>
/// </example>
/// <remarks>Safe for any number of threads.</remarks>
public sealed class RequestServer : IAsyncDisposable, IDisposable
{
    private readonly IMessageSerializer _serializer;

    /// <summary>A server that listens.</summary>
    /// <param name="context">Makes the socket. Dispose the server before it.</param>
    /// <param name="endpoint">As for <see cref="ZlinkSocket.Bind"/>.</param>
    /// <param name="serializer">Reads requests and writes replies.</param>
    /// <param name="options">Options of the receiver; null: the defaults.</param>
    /// <exception cref="ArgumentNullException">Context, endpoint or serializer is null.</exception>
    /// <exception cref="ZlinkException">As for <see cref="ZlinkSocket.Bind"/>.</exception>
    public RequestServer(ZlinkContext context, string endpoint, IMessageSerializer serializer, ServiceReceiverOptions? options = null)
    {
        ArgumentNullException.ThrowIfNull(serializer);
        _serializer = serializer;
        Receiver = new ServiceReceiver(context, options);
        try
        {
            Endpoint = Receiver.Bind(endpoint);
        }
        catch
        {
            Receiver.Dispose();
            throw;
        }
    }

    /// <summary>The receiver, for registries, statistics and the drain.</summary>
    public ServiceReceiver Receiver { get; }

    /// <summary>The endpoint with what the system filled in.</summary>
    public string Endpoint { get; }

    /// <summary>Serves requests until the token is cancelled or the server is disposed.</summary>
    /// <param name="handler">Called for each request. Its token ends with the request: by its time, its client or this loop.</param>
    /// <param name="maxConcurrency">How many handlers run at once. Further requests wait, and their clients with them.</param>
    /// <param name="cancellationToken">Ends the loop: requests that have not begun are refused.</param>
    /// <typeparam name="TRequest">The request's type.</typeparam>
    /// <typeparam name="TReply">The reply's type.</typeparam>
    /// <returns>Complete when the loop and the last handler have ended.</returns>
    /// <inheritdoc cref="TypedRequests.ServeAsync" path="/exception"/>
    public Task ServeAsync<TRequest, TReply>(Func<TRequest, CancellationToken, ValueTask<TReply>> handler, int maxConcurrency = 64,
        CancellationToken cancellationToken = default) =>
        Receiver.ServeAsync(handler, _serializer, maxConcurrency, cancellationToken);

    /// <summary>Ends the receiver. Returns at once.</summary>
    public void Dispose() => Receiver.Dispose();

    /// <summary>As <see cref="Dispose"/>, and waits as <see cref="Services.ServiceReceiver.DisposeAsync"/> does.</summary>
    /// <returns>Complete when the receiver has ended.</returns>
    public ValueTask DisposeAsync() => Receiver.DisposeAsync();
}
