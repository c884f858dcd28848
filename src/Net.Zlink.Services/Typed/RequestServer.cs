namespace Net.Zlink.Services;

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
    public RequestServer(ZlinkContext context, string endpoint, IMessageSerializer serializer, ReceiverOptions? options = null)
    {
        ArgumentNullException.ThrowIfNull(serializer);
        _serializer = serializer;
        Receiver = new Receiver(context, options);
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
    public Receiver Receiver { get; }

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

    /// <summary>As <see cref="Dispose"/>, and waits as <see cref="Services.Receiver.DisposeAsync"/> does.</summary>
    /// <returns>Complete when the receiver has ended.</returns>
    public ValueTask DisposeAsync() => Receiver.DisposeAsync();
}
