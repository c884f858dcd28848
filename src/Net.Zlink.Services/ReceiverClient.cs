namespace Net.Zlink.Services;

/// <summary>Sends to one receiver of a service: <see cref="ServiceClient.To"/>.</summary>
/// <remarks>
/// A small value that holds no resource. Thread-safe. The default value throws InvalidOperationException.
/// <para>It names the receiver that is listed with the routing id and ready when a message is sent. Without one, TrySend reports
/// <see cref="SendFailure.NoPeer"/>, and waiting sends fail with HostUnreachable: only the service as a whole waits for receivers.</para>
/// <para>Text, values and transferred memory are sent by extension methods, which do not box this value.</para>
/// </remarks>
public readonly struct ReceiverClient : IMessageSender
{
    private readonly ServiceClient? _service;

    internal ReceiverClient(ServiceClient service, RoutingId id) => (_service, RoutingId) = (service, id);

    /// <summary>The routing id that the directory lists for it.</summary>
    public RoutingId RoutingId { get; }

    internal ServiceClient Service => _service ?? throw new InvalidOperationException(
        "This ReceiverClient is the default value, which names no receiver: get one by ServiceClient.To.");

    private ServiceSender Sender => Service.Sender;

    /// <inheritdoc/>
    public SendResult TrySend(ReadOnlySpan<byte> payload) => Sender.TrySend(RoutingId, payload);

    /// <inheritdoc/>
    public SendResult TrySend(MessageBuilder message) => Sender.TrySend(RoutingId, new MessageForm(message));

    /// <inheritdoc/>
    public SendResult TrySend(in Message message) => Sender.TrySend(RoutingId, new MessageForm(message));

    /// <inheritdoc cref="ServiceClient.Send"/>
    public void Send(ReadOnlySpan<byte> payload, TimeSpan? timeout = null) => Sender.Send(RoutingId, payload, timeout);

    /// <inheritdoc/>
    /// <exception cref="ZlinkException">HostUnreachable: no such receiver is ready, or it was lost meanwhile.</exception>
    public ValueTask SendAsync(ReadOnlyMemory<byte> payload, CancellationToken cancellationToken = default) =>
        Sender.SendAsync(RoutingId, new MessageForm(payload), cancellationToken);

    /// <inheritdoc/>
    /// <exception cref="ZlinkException">HostUnreachable: no such receiver is ready, or it was lost meanwhile.</exception>
    public ValueTask SendAsync(MessageBuilder message, CancellationToken cancellationToken = default) =>
        Sender.SendAsync(RoutingId, new MessageForm(message), cancellationToken);

    /// <inheritdoc/>
    /// <exception cref="ZlinkException">HostUnreachable: no such receiver is ready, or it was lost meanwhile.</exception>
    public ValueTask SendAsync(in Message message, CancellationToken cancellationToken = default) =>
        Sender.SendAsync(RoutingId, new MessageForm(message), cancellationToken);

    /// <summary>Sends messages of one part each, in order, as many as need not wait.</summary>
    /// <inheritdoc cref="ServiceClient.SendMany(ReadOnlySpan{ReadOnlyMemory{byte}})"/>
    public int SendMany(ReadOnlySpan<ReadOnlyMemory<byte>> payloads) => Sender.SendMany<ReadOnlyMemory<byte>, PayloadBatch>(RoutingId,
        payloads);

    /// <summary>Passes received messages on, in order, as many as need not wait.</summary>
    /// <inheritdoc cref="ServiceClient.SendMany(ReadOnlySpan{Message})"/>
    public int SendMany(ReadOnlySpan<Message> messages) => Sender.SendMany<Message, MessageBatch>(RoutingId, messages);

    /// <summary>Sends messages of one part each, in order, waiting until all are accepted.</summary>
    /// <inheritdoc cref="ServiceClient.SendManyAsync(ReadOnlyMemory{ReadOnlyMemory{byte}}, CancellationToken)"/>
    /// <exception cref="ZlinkException">HostUnreachable: no such receiver is ready. ContextTerminated. Nothing was sent.</exception>
    public ValueTask<int> SendManyAsync(ReadOnlyMemory<ReadOnlyMemory<byte>> payloads, CancellationToken cancellationToken = default) =>
        Sender.SendManyAsync<ReadOnlyMemory<byte>, PayloadBatch>(RoutingId, payloads, cancellationToken);

    /// <summary>Passes received messages on, in order, waiting until all are accepted.</summary>
    /// <inheritdoc cref="ServiceClient.SendManyAsync(ReadOnlyMemory{Message}, CancellationToken)"/>
    /// <exception cref="ZlinkException">HostUnreachable: no such receiver is ready. ContextTerminated. Nothing was sent.</exception>
    public ValueTask<int> SendManyAsync(ReadOnlyMemory<Message> messages, CancellationToken cancellationToken = default) =>
        Sender.SendManyAsync<Message, MessageBatch>(RoutingId, messages, cancellationToken);

    /// <summary>Sends a request of one part to this receiver, and to no other one, and waits for its reply.</summary>
    /// <inheritdoc cref="ServiceClient.RequestAsync(ReadOnlyMemory{byte}, TimeSpan?, CancellationToken)"/>
    public ValueTask<ServiceReply> RequestAsync(
        ReadOnlyMemory<byte> payload, TimeSpan? timeout = null, CancellationToken cancellationToken = default) =>
        Service.RequestAsync(RoutingId, payload, parts: null, timeout, cancellationToken);

    /// <summary>Sends a request of several parts to this receiver, and to no other one, and waits for its reply.</summary>
    /// <inheritdoc cref="ServiceClient.RequestAsync(MessageBuilder, TimeSpan?, CancellationToken)"/>
    public ValueTask<ServiceReply> RequestAsync(
        MessageBuilder message, TimeSpan? timeout = null, CancellationToken cancellationToken = default) =>
        Service.RequestAsync(RoutingId, payload: default, ServiceClient.Checked(message), timeout, cancellationToken);
}
