using Net.Zlink.Buffers;
using Net.Zlink.Flow;
using Net.Zlink.Sockets.Links;

namespace Net.Zlink;

/// <summary>The shape is made when a message is sent, so a message between sockets of one kind is unchanged.</summary>
internal sealed class ProxyPort(ZmpSocket socket)
{
    private readonly MessageReceiver<Message, ZmpSource>? _receiver = (socket as ReceivingSocket)?.Receiver;

    public bool IsRouter { get; } = socket is RouterSocket;

    public bool HasSender { get; } = socket is not SubSocket;

    public bool AllowsOnlyOnePart => HasSender && socket.Sender.Conflates;

    public bool HasCapacity => HasSender && socket.CanSend;

    public bool IsEnded => socket.Core.IsClosed;

    public void Watch(IReadinessWatcher watcher)
    {
        socket.Core.Receive.Watchers.Add(watcher);
        socket.Core.WritableWatchers.Add(watcher);
    }

    public void Unwatch(IReadinessWatcher watcher)
    {
        socket.Core.Receive.Watchers.Remove(watcher);
        socket.Core.WritableWatchers.Remove(watcher);
    }

    public void ThrowIfEnded() => socket.ThrowIfEnded();

    public bool TryReceive(out Message message)
    {
        message = default;
        return _receiver is not null && _receiver.TryReceive(TimeSpan.Zero, out message);
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

        if (!fromRouter)
        {
            return Send([], message);
        }

        Slab id = socket.Core.Host.Slabs.Copy(message.RoutingId.Span);
        return SendCopy([], message.With(id, message.RoutingId.Length, skip: 0));
    }

    private SendResult Send(ReadOnlySpan<byte> routeId, in Message message) => socket.Sender.TrySend(new SendTarget(routeId), message);

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
}
