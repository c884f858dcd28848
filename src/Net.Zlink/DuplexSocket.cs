using Net.Zlink.Sockets.Zmp;

namespace Net.Zlink;

/// <summary>A socket that receives messages, and sends them to peers of its own choice.</summary>
public abstract class DuplexSocket : ReceivingSocket, IMessageSender
{
    private protected DuplexSocket(ZmpEndpoints endpoints, ZmpSocketOptions options)
        : base(endpoints, options)
    {
    }

    /// <inheritdoc/>
    public SendResult TrySend(ReadOnlySpan<byte> payload) => Sender.TrySend([], connection: null, payload);

    /// <inheritdoc/>
    public void Send(ReadOnlySpan<byte> payload, TimeSpan? timeout = null) =>
        Sender.Send([], connection: null, payload, OptionRange.WaitTime(timeout));

    /// <inheritdoc/>
    public ValueTask SendAsync(ReadOnlyMemory<byte> payload, CancellationToken cancellationToken = default) =>
        Sender.SendAsync([], connection: null, payload, cancellationToken);

    /// <inheritdoc/>
    public SendResult TrySend(MessageBuilder message) => Sender.TrySend([], connection: null, message);

    /// <inheritdoc/>
    public ValueTask SendAsync(MessageBuilder message, CancellationToken cancellationToken = default) =>
        Sender.SendAsync([], connection: null, message, cancellationToken);

    /// <inheritdoc/>
    public SendResult TrySend(in Message message) => Sender.TrySend([], connection: null, in message);

    /// <inheritdoc/>
    public ValueTask SendAsync(in Message message, CancellationToken cancellationToken = default) =>
        Sender.SendAsync([], connection: null, in message, cancellationToken);
}
