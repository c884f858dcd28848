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
    public SendResult TrySend(ReadOnlySpan<byte> payload) => Sender.TrySend(default, payload);

    /// <inheritdoc/>
    public void Send(ReadOnlySpan<byte> payload, TimeSpan? timeout = null) =>
        Sender.Send(default, payload, OptionRange.WaitTime(timeout));

    /// <inheritdoc/>
    public ValueTask SendAsync(ReadOnlyMemory<byte> payload, CancellationToken cancellationToken = default) =>
        Sender.SendAsync(default, payload, cancellationToken);

    /// <inheritdoc/>
    public SendResult TrySend(MessageBuilder message) => Sender.TrySend(default, message);

    /// <inheritdoc/>
    public ValueTask SendAsync(MessageBuilder message, CancellationToken cancellationToken = default) =>
        Sender.SendAsync(default, message, cancellationToken);

    /// <inheritdoc/>
    public SendResult TrySend(in Message message) => Sender.TrySend(default, in message);

    /// <inheritdoc/>
    public ValueTask SendAsync(in Message message, CancellationToken cancellationToken = default) =>
        Sender.SendAsync(default, in message, cancellationToken);
}
