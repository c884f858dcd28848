namespace Net.Zlink.Services;

/// <summary>Sends to one service: each message goes to one of its receivers. From <see cref="ServiceGateway.GetClient"/>.</summary>
/// <remarks>
/// Safe for any number of threads; nothing to dispose. Sending allocates nothing, waiting or not. What is accepted waits for the receiver
/// that was chosen; it is dropped, and counted by the socket, if that connection ends before it is written.
/// <para>The rules of ownership are those of the sockets: bytes are copied, a builder is empty and a received message is ended when it was
/// accepted, and a failed send leaves everything with the caller.</para>
/// </remarks>
public sealed class ServiceClient : IMessageSender
{
    private readonly ServiceGateway _gateway;

    internal ServiceClient(ServiceGateway gateway, ServicePool pool, ServiceSender sender) =>
        (_gateway, Pool, Sender) = (gateway, pool, sender);

    /// <summary>The name of the service.</summary>
    public string Service => Pool.Service;

    /// <summary>How many receivers are ready now. Zero: TrySend fails, SendAsync waits.</summary>
    public int ReadyCount => Pool.Ready.Count;

    /// <summary>How a receiver is chosen. Default <see cref="Services.LoadBalancing.RoundRobin"/>. Acts at once; the turns are counted
    /// on.</summary>
    /// <exception cref="ArgumentOutOfRangeException">On setting: the value is none of the enum's.</exception>
    public LoadBalancing LoadBalancing
    {
        get => Pool.LoadBalancing;
        set => Pool.LoadBalancing = Enum.IsDefined(value)
            ? value
            : throw new ArgumentOutOfRangeException(nameof(value), value, "There is no such strategy.");
    }

    internal ServicePool Pool { get; }

    internal ServiceSender Sender { get; }

    internal IEnumerable<Reading> ReceiverStates() => GatewayDescription.StatesOf(_gateway.LinksOf(Pool));

    /// <summary>The receivers of this service, ready or not: a snapshot in the order of the bytes of their endpoints.</summary>
    /// <returns>One entry for each endpoint that the directory lists.</returns>
    public IReadOnlyList<ReceiverLinkInfo> GetReceivers() => _gateway.InfosOf(_gateway.LinksOf(Pool));

    /// <summary>Waits until so many receivers are ready.</summary>
    /// <param name="receivers">How many, 1 or more.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <returns>Complete when there are as many, or more.</returns>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="receivers"/> is below 1.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    /// <exception cref="ObjectDisposedException">The gateway is disposed.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    public async ValueTask WaitUntilReadyAsync(int receivers = 1, CancellationToken cancellationToken = default)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(receivers, 1);
        while (true)
        {
            PoolSnapshot ready = Pool.Ready;
            _gateway.ThrowIfEnded();
            if (ready.Count >= receivers)
            {
                return;
            }

            await ready.Replaced.WaitAsync(cancellationToken).ConfigureAwait(false);
        }
    }

    /// <summary>One receiver of the service, by the routing id that the directory lists for it; of several with one id the first by
    /// endpoint.</summary>
    /// <param name="routingId">The routing id. Its bytes must not change while the result is in use.</param>
    /// <returns>What sends to it. Costs nothing.</returns>
    /// <exception cref="ArgumentException">The routing id is empty.</exception>
    public ReceiverClient To(RoutingId routingId) => routingId.IsEmpty
        ? throw new ArgumentException("A receiver is named by the id that the directory lists; this one is empty.", nameof(routingId))
        : new ReceiverClient(this, routingId);

    /// <inheritdoc/>
    /// <remarks>NoPeer: nobody is ready. Full: all that are ready have full queues.</remarks>
    public SendResult TrySend(ReadOnlySpan<byte> payload) => Sender.TrySend(default, payload);

    /// <inheritdoc/>
    /// <remarks>NoPeer: nobody is ready. Full: all that are ready have full queues.</remarks>
    public SendResult TrySend(MessageBuilder message) => Sender.TrySend(default, new MessageForm(message));

    /// <inheritdoc/>
    /// <remarks>NoPeer: nobody is ready. Full: all that are ready have full queues.</remarks>
    public SendResult TrySend(in Message message) => Sender.TrySend(default, new MessageForm(message));

    /// <summary>Sends a message of one part, blocking the calling thread until a queue has capacity.</summary>
    /// <param name="payload">Any bytes, also none; copied.</param>
    /// <param name="timeout">How long; <see cref="Timeout.InfiniteTimeSpan"/> for as long as it takes, zero not to wait, null:
    /// <see cref="SocketOptions.SendTimeout"/>.</param>
    /// <exception cref="TimeoutException">All queues stayed full.</exception>
    /// <exception cref="ZlinkException">HostUnreachable: nobody is ready. ContextTerminated, NoMemory.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The timeout is negative and not infinite.</exception>
    /// <exception cref="ObjectDisposedException">The gateway is disposed.</exception>
    public void Send(ReadOnlySpan<byte> payload, TimeSpan? timeout = null) => Sender.Send(default, payload, timeout);

    /// <inheritdoc/>
    /// <remarks>Waits for a receiver that is ready, too.</remarks>
    public ValueTask SendAsync(ReadOnlyMemory<byte> payload, CancellationToken cancellationToken = default) =>
        Sender.SendAsync(default, new MessageForm(payload), cancellationToken);

    /// <inheritdoc/>
    /// <remarks>Waits for a receiver that is ready, too.</remarks>
    public ValueTask SendAsync(MessageBuilder message, CancellationToken cancellationToken = default) =>
        Sender.SendAsync(default, new MessageForm(message), cancellationToken);

    /// <inheritdoc/>
    /// <remarks>Waits for a receiver that is ready, too.</remarks>
    public ValueTask SendAsync(in Message message, CancellationToken cancellationToken = default) =>
        Sender.SendAsync(default, new MessageForm(message), cancellationToken);

    /// <summary>Sends messages of one part each, as many as need not wait. Up to 16 for each receiver that is ready are shared out one by
    /// one; of more, each receiver gets its share in one block, in order.</summary>
    /// <param name="payloads">Any bytes, also none; copied.</param>
    /// <returns>How many were accepted, from the first one on. Fewer than all if one would have to wait.</returns>
    /// <exception cref="ObjectDisposedException">The gateway or a message is disposed.</exception>
    /// <exception cref="ZlinkException">ContextTerminated; nothing was sent.</exception>
    public int SendMany(ReadOnlySpan<ReadOnlyMemory<byte>> payloads) =>
        Sender.SendMany<ReadOnlyMemory<byte>, PayloadBatch>(default, payloads);

    /// <inheritdoc cref="SendMany(ReadOnlySpan{ReadOnlyMemory{byte}})"/>
    /// <summary>Passes received messages on, as many as need not wait, shared out as payloads are.</summary>
    /// <param name="messages">Those that are accepted are ended; the others stay the caller's.</param>
    public int SendMany(ReadOnlySpan<Message> messages) => Sender.SendMany<Message, MessageBatch>(default, messages);

    /// <summary>Sends messages of one part each, waiting for a receiver with a free queue until all are accepted.</summary>
    /// <param name="payloads">Any bytes, also none; unchanged until the task completes.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <returns>How many were accepted, from the first one on. Fewer than there are only if something ended the wait behind the first one:
    /// the next call says what.</returns>
    /// <exception cref="OperationCanceledException">The token was cancelled; nothing was sent.</exception>
    /// <exception cref="ObjectDisposedException">The gateway is disposed; nothing was sent.</exception>
    /// <exception cref="ZlinkException">ContextTerminated; nothing was sent.</exception>
    public ValueTask<int> SendManyAsync(ReadOnlyMemory<ReadOnlyMemory<byte>> payloads, CancellationToken cancellationToken = default) =>
        Sender.SendManyAsync<ReadOnlyMemory<byte>, PayloadBatch>(default, payloads, cancellationToken);

    /// <inheritdoc cref="SendManyAsync(ReadOnlyMemory{ReadOnlyMemory{byte}}, CancellationToken)"/>
    /// <summary>Passes received messages on, waiting for a receiver with a free queue until all are accepted.</summary>
    /// <param name="messages">Those that are accepted are ended; the others stay the caller's.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    public ValueTask<int> SendManyAsync(ReadOnlyMemory<Message> messages, CancellationToken cancellationToken = default) =>
        Sender.SendManyAsync<Message, MessageBatch>(default, messages, cancellationToken);

    /// <summary>Sends a request of one part and waits for its reply.</summary>
    /// <remarks>
    /// For receivers that serve requests, as <see cref="ServiceReceiver.ServeAsync"/> does, or send the first part back in front of their
    /// answer. A native receiver sees one part more.
    /// A receiver that refuses the request has not executed it: it goes to the next one that is ready, each once at most. A lost connection
    /// or time that is over ends it: it may have been executed.
    /// </remarks>
    /// <param name="payload">Any bytes, also none; unchanged until the task completes.</param>
    /// <param name="timeout">How long it may take; <see cref="Timeout.InfiniteTimeSpan"/> for as long as it takes, null:
    /// <see cref="ServiceGatewayOptions.RequestTimeout"/>. The receiver learns of it.</param>
    /// <param name="cancellationToken">Ends the wait; the receiver learns of that.</param>
    /// <returns>The reply, to be disposed. Await it once; completes on the thread pool.</returns>
    /// <exception cref="TimeoutException">No reply came in time; the message says why.</exception>
    /// <exception cref="ServiceException">NoReceiver: nobody serves it or can be reached. Refused: nobody executed it. Failed: it was
    /// executed and failed. ReceiverLost: the connection ended before the reply.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The timeout is negative and not infinite.</exception>
    /// <exception cref="ObjectDisposedException">The gateway is disposed.</exception>
    /// <exception cref="ZlinkException">Again: a million requests are outstanding. ContextTerminated.</exception>
    public ValueTask<ServiceReply> RequestAsync(
        ReadOnlyMemory<byte> payload, TimeSpan? timeout = null, CancellationToken cancellationToken = default) =>
        RequestAsync(default, payload, parts: null, timeout, cancellationToken);

    /// <inheritdoc cref="RequestAsync(ReadOnlyMemory{byte}, TimeSpan?, CancellationToken)"/>
    /// <remarks>The message has at least one part, is not to be touched until the task completes, and is empty then.</remarks>
    /// <exception cref="ArgumentException">The message has no part.</exception>
    public ValueTask<ServiceReply> RequestAsync(
        MessageBuilder message, TimeSpan? timeout = null, CancellationToken cancellationToken = default) =>
        RequestAsync(default, payload: default, Checked(message), timeout, cancellationToken);

    internal static MessageBuilder Checked(MessageBuilder message)
    {
        ArgumentNullException.ThrowIfNull(message);
        return message.Count > 0 ? message : throw new ArgumentException("A message has at least one part: add one.", nameof(message));
    }

    internal ValueTask<ServiceReply> RequestAsync(RoutingId target, ReadOnlyMemory<byte> payload, MessageBuilder? parts, TimeSpan? timeout,
        CancellationToken cancellationToken) => _gateway.RequestAsync(Pool, target, payload, parts, timeout, cancellationToken);
}
