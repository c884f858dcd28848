using Net.Zlink.Buffers;
using Net.Zlink.Flow;
using Net.Zlink.Sockets.Links;

namespace Net.Zlink;

/// <summary>The shape is made when a message is sent, so a message between sockets of one kind is unchanged.</summary>
internal sealed class ProxyPort
{
    private readonly ZmpSocket _socket;
    private readonly MessageReceiver<Message, ZmpSource>? _receiver;
    private readonly MessageSender _sender;

    // The id of the last message: a peer's messages often follow each other.
    private ReadOnlyMemory<byte> _lastId;
    private Slab? _lastIdSlab;

    public ProxyPort(ZmpSocket socket)
    {
        _socket = socket;
        IsRouter = socket is RouterSocket;
        _receiver = (socket as ReceivingSocket)?.Receiver;
        _sender = socket.Sender;
        HasSender = socket is not SubSocket;
    }

    public bool IsRouter { get; }

    public bool HasSender { get; }

    public bool AllowsOnlyOnePart => HasSender && _sender.Conflates;

    public bool HasCapacity => HasSender && _socket.CanSend;

    public bool IsEnded => _socket.Core.IsClosed;

    public void Watch(IReadinessWatcher watcher)
    {
        _socket.Core.Receive.Watchers.Add(watcher);
        _socket.Core.WritableWatchers.Add(watcher);
    }

    public void Unwatch(IReadinessWatcher watcher)
    {
        _socket.Core.Receive.Watchers.Remove(watcher);
        _socket.Core.WritableWatchers.Remove(watcher);
    }

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

    /// <summary>The caller ends the message in any case.</summary>
    public SendResult TrySend(in Message message, bool fromRouter)
    {
        if (IsRouter)
        {
            if (fromRouter)
            {
                return Send(message.RoutingId.Span, message);
            }

            // A message of only an id is dropped, as in the native core.
            return message.PartCount == 1 ? SendResult.Sent : SendCopy(message[0].Span, message.With(first: null, firstLength: 0, skip: 1));
        }

        return fromRouter ? SendCopy([], message.With(SlabOf(message.RoutingId), message.RoutingId.Length, skip: 0)) : Send([], message);
    }

    public void ReleaseBuffers()
    {
        _lastIdSlab?.Release();
        _lastIdSlab = null;
        _lastId = default;
    }

    private SendResult Send(ReadOnlySpan<byte> routeId, in Message message) => _sender.TrySend(new SendTarget(routeId), message);

    private SendResult SendCopy(ReadOnlySpan<byte> routeId, in Message copy)
    {
        try
        {
            return Send(routeId, copy);
        }
        finally
        {
            copy.Dispose();
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
