using Net.Zlink.Sockets;
using Net.Zlink.Sockets.Links;

namespace Net.Zlink;

/// <summary>A socket that receives messages.</summary>
public abstract class ReceivingSocket : ZmpSocket, IMessageReceiver
{
    private protected ReceivingSocket(ZlinkContext context, SocketCore core, ZmpSocketOptions options)
        : base(context, core, options) => Receiver = new MessageReceiver(core);

    internal MessageReceiver Receiver { get; }

    /// <inheritdoc/>
    public bool TryReceive(out Message message) => Receiver.TryReceive(out message);

    /// <summary>Waits for the next message, at most <see cref="SocketOptions.ReceiveTimeout"/>, blocking the calling thread.</summary>
    /// <returns>The message; dispose it.</returns>
    /// <exception cref="TimeoutException">None came in time.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    /// <exception cref="InvalidOperationException">Called on a shard, where blocking would stop what it waits for.</exception>
    public Message Receive() => Receiver.Receive(Options.ReceiveTimeout);

    /// <summary>Waits for the next message, blocking the calling thread.</summary>
    /// <param name="timeout">How long; <see cref="Timeout.InfiniteTimeSpan"/> for as long as it takes.</param>
    /// <returns>The message; dispose it.</returns>
    /// <exception cref="TimeoutException">None came in time.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The timeout is negative and not infinite.</exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    /// <exception cref="InvalidOperationException">Called on a shard.</exception>
    public Message Receive(TimeSpan timeout) => Receiver.Receive(OptionRange.Time(timeout, mayBeInfinite: true));

    /// <summary>Waits for the next message, blocking the calling thread, where it is no surprise that none comes.</summary>
    /// <param name="message">The message; dispose it.</param>
    /// <param name="timeout">How long; <see cref="Timeout.InfiniteTimeSpan"/> for as long as it takes.</param>
    /// <returns>False if none came in time.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The timeout is negative and not infinite.</exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    /// <exception cref="InvalidOperationException">Called on a shard.</exception>
    public bool TryReceive(out Message message, TimeSpan timeout) =>
        Receiver.TryReceive(OptionRange.Time(timeout, mayBeInfinite: true), out message);

    /// <inheritdoc/>
    public ValueTask<Message> ReceiveAsync(CancellationToken cancellationToken = default) => Receiver.ReceiveAsync(cancellationToken);

    /// <summary>Throws out the peer that sent a message, as <see cref="ZmpSocket.DisconnectPeer(PeerInfo)"/> does: a client that has not
    /// shown who it is, for one.</summary>
    /// <param name="message">A message of this socket's; of XPUB also a notice, whose subscriber it is then. It stays the caller's.</param>
    /// <returns>False: the peer has gone already, also where it has come again since.</returns>
    /// <exception cref="ArgumentException">No peer sent it, or this socket connects to that peer:
    /// <see cref="ZmpSocket.Disconnect(string)"/> ends that.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    /// <exception cref="ObjectDisposedException">The socket or the message is disposed.</exception>
    public bool DisconnectPeer(in Message message)
    {
        ThrowIfEnded();
        if (message.Sender is not PeerIdentity sender || ReferenceEquals(sender, PeerIdentity.Unknown))
        {
            throw new ArgumentException("No peer sent this message: there is nobody to throw out.", nameof(message));
        }

        if (message.NoticeOf is PeerLink subscriber)
        {
            return EndPeer(subscriber, sender, nameof(message));
        }

        return sender.Slot.Pipe is { } link && ReferenceEquals(link.Socket, Core) && EndPeer(link, sender, nameof(message));
    }

    /// <summary>Takes as many messages as there are and fit, without waiting.</summary>
    /// <param name="messages">Where to put them; dispose each that was put.</param>
    /// <returns>How many; 0 if there is none.</returns>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    public int ReceiveMany(Span<Message> messages) => Receiver.ReceiveMany(messages);

    /// <summary>Waits until there is a message, then takes as many as there are and fit.</summary>
    /// <param name="messages">Where to put them; not empty. Dispose each that was put.</param>
    /// <param name="cancellationToken">Ends the wait; no message is lost by it.</param>
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
