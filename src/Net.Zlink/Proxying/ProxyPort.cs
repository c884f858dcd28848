using Net.Zlink.Buffers;
using Net.Zlink.Flow;

namespace Net.Zlink;

/// <summary>A socket as a proxy sees it: one that gives and takes whole messages of the native shape, in which a ROUTER's routing id is the
/// first part.</summary>
/// <remarks>
/// The shape is made where a message goes out, so that a message between two sockets of like kind passes untouched. From ROUTER to another
/// type the id comes in front, as a part; towards ROUTER from another type the first part is the id and is not sent; from ROUTER to ROUTER
/// the sender's id names the receiver. That is what a native proxy does on the wire, part by part.
/// </remarks>
internal sealed class ProxyPort
{
    private readonly ZmpSocket _socket;
    private readonly MessageReceiver? _receiver;
    private readonly MessageSender _sender;

    // The id that was put in front of the last message: a peer's messages often come in a row.
    private ReadOnlyMemory<byte> _lastId;
    private Slab? _lastIdSlab;

    public ProxyPort(ZmpSocket socket)
    {
        _socket = socket;
        IsRouter = socket is RouterSocket;
        _receiver = (socket as ReceivingSocket)?.Receiver;
        (_sender, HasSender) = socket switch
        {
            RouterSocket router => (router.Sender, true),
            DuplexSocket duplex => (duplex.Sender, true),
            PubSocket publisher => (publisher.Sender, true),
            _ => (default, false),
        };
    }

    /// <summary>Its messages come with their sender's id, and go to the peer that an id names.</summary>
    public bool IsRouter { get; }

    /// <summary>Its type can send at all.</summary>
    public bool HasSender { get; }

    /// <summary>What is sent here has one part, now.</summary>
    public bool AllowsOnlyOnePart => HasSender && _sender.Conflates;

    /// <summary>A send would not have to wait now, as far as can be told without a message.</summary>
    public bool HasCapacity => HasSender && _socket.CanSend;

    /// <summary>The socket is disposed, or its context shut down.</summary>
    public bool IsEnded => _socket.Core.IsClosed;

    /// <summary>Tells the watcher of room, and where it is read of messages.</summary>
    public void Watch(IReadinessWatcher watcher)
    {
        _socket.Core.Receive.Watchers.Add(watcher);
        _socket.Core.WritableWatchers.Add(watcher);
    }

    /// <summary>Takes back what <see cref="Watch"/> did.</summary>
    public void Unwatch(IReadinessWatcher watcher)
    {
        _socket.Core.Receive.Watchers.Remove(watcher);
        _socket.Core.WritableWatchers.Remove(watcher);
    }

    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    public void ThrowIfEnded() => _socket.ThrowIfEnded();

    public bool TryReceive(out Message message)
    {
        if (_receiver is not null)
        {
            return _receiver.TryReceive(out message);
        }

        message = default;
        return false;
    }

    /// <summary>Sends a received message on. The caller ends it, whatever comes of this.</summary>
    /// <param name="message">The message; it may be ended already when this returns None.</param>
    /// <param name="fromRouter">It came from a ROUTER: its routing id belongs to it.</param>
    /// <returns>None, Again, HostUnreachable, or InvalidArgument: the socket conflates, and the message would have several parts
    /// here.</returns>
    public ZlinkError TrySend(in Message message, bool fromRouter)
    {
        if (IsRouter)
        {
            if (fromRouter)
            {
                return Send(message.RoutingId.Span, message);
            }

            // A lone id says nothing to anybody: it is dropped, as natively.
            return message.PartCount == 1 ? ZlinkError.None : SendCopy(message[0].Span, message.With(first: null, firstLength: 0, skip: 1));
        }

        return fromRouter ? SendCopy([], message.With(SlabOf(message.RoutingId), message.RoutingId.Length, skip: 0)) : Send([], message);
    }

    /// <summary>Sends an answer to whom a message came from.</summary>
    /// <returns>As of the other.</returns>
    public ZlinkError TrySend(ReadOnlySpan<byte> routeId, MessageBuilder answer) => _sender.TryPassOn(IsRouter ? routeId : [], answer);

    /// <summary>Lets go of what it keeps between messages.</summary>
    public void ReleaseBuffers()
    {
        _lastIdSlab?.Release();
        _lastIdSlab = null;
        _lastId = default;
    }

    private ZlinkError Send(ReadOnlySpan<byte> routeId, in Message message) => _sender.TryPassOn(routeId, message);

    private ZlinkError SendCopy(ReadOnlySpan<byte> routeId, in Message copy)
    {
        try
        {
            return Send(routeId, copy);
        }
        finally
        {
            copy.Dispose(); // Harmless where it was sent.
        }
    }

    private Slab SlabOf(ReadOnlyMemory<byte> id)
    {
        if (_lastIdSlab is null || !id.Equals(_lastId))
        {
            ReleaseBuffers();
            Slab slab = _socket.Core.Host.Slabs.Rent(Math.Max(1, id.Length));
            id.Span.CopyTo(slab.Array);
            _lastIdSlab = slab;
            _lastId = id;
        }

        _lastIdSlab.AddReference();
        return _lastIdSlab;
    }
}
