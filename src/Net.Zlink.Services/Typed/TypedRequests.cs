using System.Runtime.CompilerServices;
using Net.Zlink.Buffers;

namespace Net.Zlink.Services;

/// <summary>Values in place of bytes for requests: <see cref="ServiceClient"/> and <see cref="Receiver"/> with a serializer.</summary>
public static class TypedRequests
{
    // One is held for the whole of a request, so as many are kept as requests may be outstanding: 256 bytes and more each.
    private static readonly MessageBuilderPool Builders = new(BufferPool.Shared, maxKept: 1024);

    /// <summary>Sends a request and waits for its reply, both as values.</summary>
    /// <param name="service">The service.</param>
    /// <param name="request">The request.</param>
    /// <param name="serializer">Writes the request before the call returns, and reads the reply.</param>
    /// <param name="timeout">As for <see cref="ServiceClient.RequestAsync(ReadOnlyMemory{byte}, TimeSpan?, CancellationToken)"/>.</param>
    /// <param name="cancellationToken">Ends the wait; the receiver learns of that.</param>
    /// <typeparam name="TRequest">The request's type.</typeparam>
    /// <typeparam name="TReply">The reply's type.</typeparam>
    /// <returns>The reply.</returns>
    /// <exception cref="TimeoutException">No reply came in time; the message says why. The request is not executed any more.</exception>
    /// <exception cref="ServiceException">NoReceiver, at once: nobody serves it or can be reached. Refused: nobody executed it. Failed: its
    /// handler threw. ReceiverLost: the connection ended before the reply.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    /// <exception cref="ObjectDisposedException">The gateway is disposed.</exception>
    /// <exception cref="Exception">The reply is no such value: the serializer's exception.</exception>
    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    public static async ValueTask<TReply> RequestAsync<TRequest, TReply>(this ServiceClient service, TRequest request,
        IMessageSerializer serializer, TimeSpan? timeout = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(service);
        ArgumentNullException.ThrowIfNull(serializer);
        using var rented = new RentedBuilder(Builders);
        rented.Message.Add(request, serializer);
        using ServiceReply reply = await service.RequestAsync(rented.Message, timeout, cancellationToken).ConfigureAwait(false);
        return serializer.Deserialize<TReply>(reply.Span);
    }

    /// <summary>Serves requests with a handler that takes and returns values; for the rest as
    /// <see cref="Receiver.ServeAsync"/>.</summary>
    /// <remarks>A request that cannot be read is answered with a failure, and the handler does not see it. A handler that throws fails its
    /// own request.</remarks>
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
    public static Task ServeAsync<TRequest, TReply>(this Receiver receiver, Func<TRequest, CancellationToken, ValueTask<TReply>> handler,
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
    /// <returns>Complete when the reply was accepted.</returns>
    /// <exception cref="ArgumentNullException">An argument is null.</exception>
    /// <exception cref="ZlinkException">HostUnreachable: nobody waits for the reply any more. ContextTerminated.</exception>
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
        rented.Message.Add(reply, serializer);
        if (!request.TryReply(rented.Message, out ZlinkError error) && error == ZlinkError.Again)
        {
            await request.ReplyAsync(rented.Message[0].ToArray(), cancellationToken).ConfigureAwait(false);
        }
    }

    private static bool TryRead<TRequest>(in ServiceRequest request, IMessageSerializer serializer, out TRequest value)
    {
        try
        {
            value = serializer.Deserialize<TRequest>(request.Span);
            return true;
        }
        catch (Exception e)
        {
            // Any peer can send such a request: it is counted as failed, and fills no log.
            request.TryFail(FailureCode.Malformed, $"the request is no {typeof(TRequest).Name}: {e.GetType().Name}");
            value = default!;
            return false;
        }
    }
}
