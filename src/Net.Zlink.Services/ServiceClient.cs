using System.Buffers;

namespace Net.Zlink.Services;

/// <summary>Sends to one service: each message goes to one of its receivers. From <see cref="Gateway.GetService"/>.</summary>
/// <remarks>
/// Safe for any number of threads; nothing to dispose. Sending allocates nothing, waiting or not. What is accepted waits for the receiver
/// that was chosen; it is dropped, and counted by the socket, if that connection ends before it is written.
/// <para>The rules of ownership are those of the sockets: bytes are copied, a builder is empty and a received message is ended when it was
/// accepted, and a failed send leaves everything with the caller.</para>
/// </remarks>
public sealed class ServiceClient
{
    private readonly Gateway _gateway;
    private readonly PoolSender _sender;

    internal ServiceClient(Gateway gateway, ServicePool pool)
    {
        _gateway = gateway;
        Pool = pool;
        _sender = new PoolSender(gateway.Sender, pool, gateway.Options.TryNextWhenFull, gateway.ThrowIfEnded);
    }

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

    /// <summary>The receivers of this service, ready or not: a snapshot in the order of the bytes of their endpoints.</summary>
    /// <returns>One entry for each endpoint that the directory lists.</returns>
    public IReadOnlyList<ReceiverLinkInfo> GetReceivers() => _gateway.InfosOf(_gateway.LinksOf(Pool));

    /// <summary>Waits until so many receivers are ready.</summary>
    /// <param name="receivers">How many, 1 or more.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <returns>Complete when there are as many, or more.</returns>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="receivers"/> is below 1.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    /// <inheritdoc cref="TrySend(ReadOnlySpan{byte}, out ZlinkError)" path="/exception"/>
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

    /// <inheritdoc cref="TrySend(ReadOnlySpan{byte}, out ZlinkError)"/>
    public bool TrySend(ReadOnlySpan<byte> payload) => TrySend(payload, out _);

    /// <summary>Sends a message of one part if it need not wait, and says why not.</summary>
    /// <param name="payload">Any bytes, also none; copied.</param>
    /// <param name="error">None; HostUnreachable: nobody is ready; Again: all that are ready have full queues.</param>
    /// <returns>True if it was accepted.</returns>
    /// <exception cref="ObjectDisposedException">The gateway or the message is disposed.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    public bool TrySend(ReadOnlySpan<byte> payload, out ZlinkError error) => _sender.TrySend(new SpanForm(payload), out error);

    /// <inheritdoc cref="TrySend(MessageBuilder, out ZlinkError)"/>
    public bool TrySend(MessageBuilder message) => TrySend(message, out _);

    /// <inheritdoc cref="TrySend(ReadOnlySpan{byte}, out ZlinkError)"/>
    /// <remarks>The message has at least one part, is sent whole or not at all, and is empty when it was accepted.</remarks>
    /// <exception cref="ArgumentException">The message has no part.</exception>
    public bool TrySend(MessageBuilder message, out ZlinkError error) => _sender.TrySend(FormOf(message), out error);

    /// <inheritdoc cref="TrySend(in Message, out ZlinkError)"/>
    public bool TrySend(in Message message) => TrySend(message, out _);

    /// <inheritdoc cref="TrySend(ReadOnlySpan{byte}, out ZlinkError)"/>
    /// <remarks>The received message is ended when it was accepted.</remarks>
    public bool TrySend(in Message message, out ZlinkError error) => _sender.TrySend(new MessageForm(message), out error);

    /// <inheritdoc cref="Send(ReadOnlySpan{byte}, TimeSpan)"/>
    /// <remarks>At most <see cref="SocketOptions.SendTimeout"/> of <see cref="GatewayOptions.Socket"/>.</remarks>
    public void Send(ReadOnlySpan<byte> payload) => Send(payload, _gateway.Options.Socket.SendTimeout);

    /// <summary>Sends a message of one part, blocking the calling thread until a queue has capacity.</summary>
    /// <param name="payload">Any bytes, also none; copied.</param>
    /// <param name="timeout">How long; <see cref="Timeout.InfiniteTimeSpan"/> for as long as it takes, zero not to wait.</param>
    /// <exception cref="ZlinkException">HostUnreachable: nobody is ready. Again: all queues stayed full. ContextTerminated.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The timeout is negative and not infinite.</exception>
    /// <exception cref="ObjectDisposedException">The gateway is disposed.</exception>
    public void Send(ReadOnlySpan<byte> payload, TimeSpan timeout)
    {
        if (!TrySend(payload, out _))
        {
            _sender.Send(payload, timeout);
        }
    }

    /// <summary>Sends a message of one part, waiting for a receiver with a free queue if need be.</summary>
    /// <param name="payload">Any bytes, also none; unchanged until the task completes.</param>
    /// <param name="cancellationToken">Ends the wait; nothing is sent then.</param>
    /// <returns>Complete when the message was accepted.</returns>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    /// <inheritdoc cref="TrySend(ReadOnlySpan{byte}, out ZlinkError)" path="/exception"/>
    public ValueTask SendAsync(ReadOnlyMemory<byte> payload, CancellationToken cancellationToken = default) =>
        _sender.SendAsync(new MemoryForm(payload), cancellationToken);

    /// <inheritdoc cref="SendAsync(ReadOnlyMemory{byte}, CancellationToken)"/>
    /// <remarks>The message has at least one part, is not to be touched until the task completes, and is empty then.</remarks>
    /// <exception cref="ArgumentException">The message has no part.</exception>
    public ValueTask SendAsync(MessageBuilder message, CancellationToken cancellationToken = default) =>
        _sender.SendAsync(FormOf(message), cancellationToken);

    /// <inheritdoc cref="SendAsync(ReadOnlyMemory{byte}, CancellationToken)"/>
    /// <remarks>The received message is ended when the task completes.</remarks>
    public ValueTask SendAsync(in Message message, CancellationToken cancellationToken = default) =>
        _sender.SendAsync(new MessageForm(message), cancellationToken);

    /// <summary>Passes memory on as a message of one part, waiting for a receiver with a free queue if need be.</summary>
    /// <param name="payload">Its owner, disposed when the message was sent. If the send fails it stays the caller's.</param>
    /// <param name="length">How many of its bytes are the message.</param>
    /// <param name="cancellationToken">Ends the wait; nothing is sent then.</param>
    /// <returns>Complete when the message was accepted.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The memory has fewer bytes.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    /// <inheritdoc cref="TrySend(ReadOnlySpan{byte}, out ZlinkError)" path="/exception"/>
    public ValueTask SendAsync(IMemoryOwner<byte> payload, int length, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(payload);
        ArgumentOutOfRangeException.ThrowIfNegative(length);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(length, payload.Memory.Length);
        return _sender.SendAsync(new OwnedForm(payload, length), cancellationToken);
    }

    /// <summary>Sends messages of one part each, as many as need not wait. Up to 16 for each receiver that is ready are shared out one by
    /// one; of more, each receiver gets its share in one block, in order.</summary>
    /// <param name="payloads">Any bytes, also none; copied.</param>
    /// <param name="error">None; HostUnreachable: nobody is ready; Again: all that are ready have full queues.</param>
    /// <returns>How many were accepted, from the first one on: all of them, unless there is an error.</returns>
    /// <exception cref="ObjectDisposedException">The gateway or a message is disposed.</exception>
    /// <exception cref="ZlinkException">ContextTerminated; nothing was sent.</exception>
    public int SendMany(ReadOnlySpan<ReadOnlyMemory<byte>> payloads, out ZlinkError error) =>
        _sender.SendMany<ReadOnlyMemory<byte>, MemoryForm>(payloads, out error);

    /// <inheritdoc cref="SendMany(ReadOnlySpan{ReadOnlyMemory{byte}}, out ZlinkError)"/>
    /// <remarks>Received messages that are accepted are ended; the others stay the caller's.</remarks>
    public int SendMany(ReadOnlySpan<Message> messages, out ZlinkError error) =>
        _sender.SendMany<Message, MessageForm>(messages, out error);

    /// <summary>Sends messages of one part each, waiting for a receiver with a free queue until all are accepted.</summary>
    /// <param name="payloads">Any bytes, also none; unchanged until the task completes.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <returns>How many were accepted, from the first one on. Fewer than there are only if something ended the wait behind the first one:
    /// the next call says what.</returns>
    /// <exception cref="OperationCanceledException">The token was cancelled; nothing was sent.</exception>
    /// <exception cref="ObjectDisposedException">The gateway is disposed; nothing was sent.</exception>
    /// <exception cref="ZlinkException">ContextTerminated; nothing was sent.</exception>
    public ValueTask<int> SendManyAsync(ReadOnlyMemory<ReadOnlyMemory<byte>> payloads, CancellationToken cancellationToken = default) =>
        _sender.SendManyAsync<ReadOnlyMemory<byte>, MemoryForm>(payloads, cancellationToken);

    /// <inheritdoc cref="SendManyAsync(ReadOnlyMemory{ReadOnlyMemory{byte}}, CancellationToken)"/>
    /// <remarks>Received messages that are accepted are ended; the others stay the caller's.</remarks>
    public ValueTask<int> SendManyAsync(ReadOnlyMemory<Message> messages, CancellationToken cancellationToken = default) =>
        _sender.SendManyAsync<Message, MessageForm>(messages, cancellationToken);

    /// <summary>Sends a message of one part to a receiver that the application names, if it need not wait.</summary>
    /// <param name="routingId">The receiver, by the id that the directory lists for this service; of several with one id the first by
    /// endpoint.</param>
    /// <param name="payload">Any bytes, also none; copied.</param>
    /// <param name="error">None; HostUnreachable: no such receiver is ready; Again: its queue is full.</param>
    /// <returns>True if it was accepted.</returns>
    /// <inheritdoc cref="TrySend(ReadOnlySpan{byte}, out ZlinkError)" path="/exception"/>
    public bool TrySendTo(RoutingId routingId, ReadOnlySpan<byte> payload, out ZlinkError error) =>
        _sender.TrySendTo(routingId, new SpanForm(payload), out error);

    /// <inheritdoc cref="TrySend(MessageBuilder, out ZlinkError)"/>
    /// <remarks>The receiver is named as for <see cref="TrySendTo(RoutingId, ReadOnlySpan{byte}, out ZlinkError)"/>.</remarks>
    public bool TrySendTo(RoutingId routingId, MessageBuilder message, out ZlinkError error) =>
        _sender.TrySendTo(routingId, FormOf(message), out error);

    /// <inheritdoc cref="TrySend(in Message, out ZlinkError)"/>
    /// <remarks>The receiver is named as for <see cref="TrySendTo(RoutingId, ReadOnlySpan{byte}, out ZlinkError)"/>.</remarks>
    public bool TrySendTo(RoutingId routingId, in Message message, out ZlinkError error) =>
        _sender.TrySendTo(routingId, new MessageForm(message), out error);

    /// <summary>Sends a message of one part to a receiver that the application names, waiting for its queue if need be.</summary>
    /// <param name="routingId">The receiver, as for <see cref="TrySendTo(RoutingId, ReadOnlySpan{byte}, out ZlinkError)"/>.</param>
    /// <param name="payload">Any bytes, also none; unchanged until the task completes.</param>
    /// <param name="cancellationToken">Ends the wait; nothing is sent then.</param>
    /// <returns>Complete when the message was accepted.</returns>
    /// <exception cref="ZlinkException">HostUnreachable: no such receiver is ready, or it was lost meanwhile.
    /// ContextTerminated.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    /// <exception cref="ObjectDisposedException">The gateway is disposed.</exception>
    public ValueTask SendToAsync(RoutingId routingId, ReadOnlyMemory<byte> payload, CancellationToken cancellationToken = default) =>
        _sender.SendToAsync(routingId, new MemoryForm(payload), cancellationToken);

    /// <inheritdoc cref="SendToAsync(RoutingId, ReadOnlyMemory{byte}, CancellationToken)"/>
    /// <remarks>The message has at least one part, is not to be touched until the task completes, and is empty then.</remarks>
    /// <exception cref="ArgumentException">The message has no part.</exception>
    public ValueTask SendToAsync(RoutingId routingId, MessageBuilder message, CancellationToken cancellationToken = default) =>
        _sender.SendToAsync(routingId, FormOf(message), cancellationToken);

    /// <inheritdoc cref="SendMany(ReadOnlySpan{ReadOnlyMemory{byte}}, out ZlinkError)"/>
    /// <remarks>The receiver is named as for <see cref="TrySendTo(RoutingId, ReadOnlySpan{byte}, out ZlinkError)"/>.</remarks>
    public int SendManyTo(RoutingId routingId, ReadOnlySpan<ReadOnlyMemory<byte>> payloads, out ZlinkError error) =>
        _sender.SendManyTo<ReadOnlyMemory<byte>, MemoryForm>(routingId, payloads, out error);

    /// <summary>Sends a request of one part and waits for its reply.</summary>
    /// <remarks>
    /// For receivers that serve requests, as Receiver.ServeAsync does, or send the first part back in front of their answer. A native
    /// receiver sees one part more.
    /// A receiver that refuses the request has not executed it: it goes to the next one that is ready, each once at most. A lost connection
    /// or time that is over ends it: it may have been executed.
    /// </remarks>
    /// <param name="payload">Any bytes, also none; unchanged until the task completes.</param>
    /// <param name="timeout">How long it may take; <see cref="Timeout.InfiniteTimeSpan"/> for as long as it takes, null:
    /// <see cref="GatewayOptions.RequestTimeout"/>. The receiver learns of it.</param>
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
        _gateway.RequestAsync(Pool, default, payload, parts: null, timeout, cancellationToken);

    /// <inheritdoc cref="RequestAsync(ReadOnlyMemory{byte}, TimeSpan?, CancellationToken)"/>
    /// <remarks>The message has at least one part, is not to be touched until the task completes, and is empty then.</remarks>
    /// <exception cref="ArgumentException">The message has no part.</exception>
    public ValueTask<ServiceReply> RequestAsync(
        MessageBuilder message, TimeSpan? timeout = null, CancellationToken cancellationToken = default) =>
        _gateway.RequestAsync(Pool, default, default, Checked(message), timeout, cancellationToken);

    /// <inheritdoc cref="RequestAsync(ReadOnlyMemory{byte}, TimeSpan?, CancellationToken)"/>
    /// <remarks>The receiver is named as for <see cref="TrySendTo(RoutingId, ReadOnlySpan{byte}, out ZlinkError)"/>.</remarks>
    /// <exception cref="ArgumentException">The routing id is empty.</exception>
    public ValueTask<ServiceReply> RequestToAsync(
        RoutingId routingId, ReadOnlyMemory<byte> payload, TimeSpan? timeout = null, CancellationToken cancellationToken = default) =>
        _gateway.RequestAsync(Pool, Checked(routingId), payload, parts: null, timeout, cancellationToken);

    /// <inheritdoc cref="RequestAsync(MessageBuilder, TimeSpan?, CancellationToken)"/>
    /// <remarks>The receiver is named as for <see cref="TrySendTo(RoutingId, ReadOnlySpan{byte}, out ZlinkError)"/>.</remarks>
    public ValueTask<ServiceReply> RequestToAsync(
        RoutingId routingId, MessageBuilder message, TimeSpan? timeout = null, CancellationToken cancellationToken = default) =>
        _gateway.RequestAsync(Pool, Checked(routingId), default, Checked(message), timeout, cancellationToken);

    private static BuilderForm FormOf(MessageBuilder message)
    {
        ArgumentNullException.ThrowIfNull(message);
        return new BuilderForm(message);
    }

    private static MessageBuilder Checked(MessageBuilder message)
    {
        ArgumentNullException.ThrowIfNull(message);
        return message.Count > 0 ? message : throw new ArgumentException("A message needs at least one part: add one.", nameof(message));
    }

    private static RoutingId Checked(RoutingId routingId) =>
        routingId.IsEmpty
            ? throw new ArgumentException("A receiver is named by the id that the directory lists; this one is empty.", nameof(routingId))
            : routingId;
}
