using Net.Zlink.Sockets.Links;
using Net.Zlink.Sockets.Zmp;

namespace Net.Zlink;

/// <summary>A socket that receives messages.</summary>
public abstract class ReceivingSocket : ZmpSocket, IMessageReceiver
{
    private protected ReceivingSocket(ZmpEndpoints endpoints, ZmpSocketOptions options)
        : base(endpoints, options) => Receiver = new(new ZmpSource(endpoints), endpoints.Socket.Receive);

    internal MessageReceiver<Message, ZmpSource> Receiver { get; }

    /// <inheritdoc/>
    public bool TryReceive(out Message message, TimeSpan timeout = default) =>
        Receiver.TryReceive(OptionRange.Time(timeout, mayBeInfinite: true), out message);

    /// <inheritdoc/>
    public Message Receive(TimeSpan? timeout = null) => Receiver.Receive(OptionRange.WaitTime(timeout) ?? Options.ReceiveTimeout);

    /// <inheritdoc/>
    public ValueTask<Message> ReceiveAsync(CancellationToken cancellationToken = default) => Receiver.ReceiveAsync(cancellationToken);

    /// <summary>
    /// Disconnects the peer that sent a message, as <see cref="ZmpSocket.Disconnect(PeerInfo, bool)"/> does: for example a client that has
    /// not authenticated.
    /// </summary>
    /// <param name="received">
    /// A message that this socket received. With XPUB also a notice, which means its subscriber. It still belongs to the caller.
    /// </param>
    /// <param name="abort">True: at once; queued messages are dropped and counted.</param>
    /// <returns>False: the peer has disconnected already, perhaps to connect again.</returns>
    /// <exception cref="ArgumentException">
    /// It has no sender, or this socket connects to its sender: <see cref="ZmpSocket.Disconnect(string)"/> ends that.
    /// </exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    /// <exception cref="ObjectDisposedException">The socket or the message is disposed.</exception>
    public bool Disconnect(in Message received, bool abort = false)
    {
        ThrowIfEnded();
        if (received.Sender is not PeerIdentity sender || ReferenceEquals(sender, PeerIdentity.Unknown))
        {
            throw new ArgumentException("The message has no sender (it was not received from a peer).", nameof(received));
        }

        if (received.NoticeOf is PeerLink subscriber)
        {
            return EndPeer(subscriber, sender, abort, nameof(received));
        }

        return sender.Slot.Link is { } link && ReferenceEquals(link.Socket, Core) && EndPeer(link, sender, abort, nameof(received));
    }

    /// <summary>Takes as many messages as there are and fit, without waiting.</summary>
    /// <param name="messages">Receives the messages. Dispose each.</param>
    /// <returns>How many. 0 if there is none.</returns>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    public int ReceiveMany(Span<Message> messages) => Receiver.ReceiveMany(messages);

    /// <summary>Waits for a message, then takes as many as there are and fit.</summary>
    /// <param name="messages">Receives the messages; not empty. Dispose each.</param>
    /// <param name="cancellationToken">Cancels the wait. No message is lost.</param>
    /// <returns>How many, at least 1.</returns>
    /// <exception cref="ArgumentException"><paramref name="messages"/> is empty.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    public ValueTask<int> ReceiveManyAsync(Memory<Message> messages, CancellationToken cancellationToken = default) =>
        Receiver.ReceiveManyAsync(messages, cancellationToken);

    /// <inheritdoc/>
    public IAsyncEnumerable<Message> ReceiveAllAsync(CancellationToken cancellationToken = default) =>
        Receiver.ReceiveAllAsync(cancellationToken);
}
