using System.Globalization;
using System.Numerics;
using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Sockets.Endpoints;
using Net.Zlink.Sockets.Links;

namespace Net.Zlink.Sockets.Zmp;

/// <summary>Any thread, outside of all locks.</summary>
internal sealed class SessionEvents(SocketCore socket)
{
    public void Publish(SocketEventTypes type, long value, ZmpSession session, string? detail)
    {
        if (!socket.Monitors.IsEmpty)
        {
            (string local, string remote) = session.Ends;

            // As in the native core: the announced id, whatever alias is used; and for a loss only on the connecting side.
            bool names = type == SocketEventTypes.ConnectionReady
                || (type == SocketEventTypes.Disconnected && session is { IsActive: true, IsReady: true });
            socket.Monitors.Publish(new SocketEvent(type, value, names ? session.PeerRoutingId : default, local, remote, 0, detail)
            {
                PeerRoutingId = NameOf(session),
            });
        }
    }

    public void Refused(ZmpSession session, string why)
    {
        Interlocked.Increment(ref socket.Counters.Refused);
        Publish(SocketEventTypes.ConnectionRefused, 0, session, why);
        socket.Host.Warnings.ConnectionRefused(session.Endpoint, why);
    }

    public void Closing(ZmpSession session, bool wasReady)
    {
        bool isOurWish = session.EndReason is DisconnectReason.Local or DisconnectReason.ContextTerminated;
        if (!wasReady)
        {
            RaiseHandshakeEvent(session, isOurWish);
        }

        if (!isOurWish)
        {
            Publish(SocketEventTypes.Disconnected, (long)session.EndReason, session, session.EndDetail);
        }

        if (session.EndReason is DisconnectReason.UnfinishedByteLimit or DisconnectReason.SubscriptionByteLimit)
        {
            socket.Host.Warnings.PeerUnfinishedLimit(session.EndReason, session.Endpoint, session.Ends.Remote, session.EndDetail);
        }

        if (socket.Host.Logger.IsEnabled(Microsoft.Extensions.Logging.LogLevel.Debug))
        {
            (_, string remote) = session.Ends;
            Log.ConnectionLost(socket.Host.Logger, session.Endpoint, remote, PeerIdentity.NameOf(NameOf(session).Span), session.EndReason,
                session.EndDetail);
        }
    }

    public void NotWritten(PeerLink link, in OutboundCounts dropped)
    {
        (string local, string remote) = link.Ends;
        socket.Monitors.Publish(new SocketEvent(
            SocketEventTypes.MessagesDropped, dropped.MissedMessages, link.Peer.RoutingId, local, remote, 0,
                "accepted, but not written when the connection ended")
        {
            PeerRoutingId = link.Peer.RoutingId,
        });
        socket.Host.Warnings.Undelivered(PeerIdentity.NameOf(link.Peer.RoutingId), link.Endpoint, dropped.MissedMessages,
            dropped.MissedBytes);
    }

    public void Unconfirmed(ZmpSession session, long messages) =>
        Publish(SocketEventTypes.MessagesUnconfirmed, messages, session, $"written but not confirmed: {session.EndDetail}");

    public void TopicRefused(ZmpSession session, uint length, long limit) => Publish(SocketEventTypes.SubscriptionRefused, length, session,
        string.Create(CultureInfo.InvariantCulture, $"a topic of {length} bytes exceeds this side's MaxMessageSize, {limit}"));

    public void DroppedForMemory(PeerLink link)
    {
        link.CountDroppedAtMark();
        Dropped(ref socket.Counters.DroppedAtContextLimit, link.Peer.RoutingId, link, "no memory for a buffer");
    }

    public void DroppedAtMark(PeerLink link)
    {
        link.CountDroppedAtMark();
        switch (link.FullCause)
        {
            case FullCause.Context:
                Dropped(ref socket.Counters.DroppedAtContextLimit, link.Peer.RoutingId, link, "the context is at its QueuedByteLimit");
                break;
            case FullCause.Bytes:
                Dropped(ref socket.Counters.DroppedAtByteLimit, link.Peer.RoutingId, link, "the peer is at its byte limit");
                break;
            default:
                Dropped(ref socket.Counters.DroppedAtHighWaterMark, link.Peer.RoutingId, link, "the peer is at its high-water mark");
                break;
        }
    }

    public void DroppedUnroutable(ReadOnlySpan<byte> routeId) =>
        Dropped(ref socket.Counters.DroppedUnroutable, routeId, link: null, "no peer has that routing id");

    /// <summary>Counts each, and publishes at 1, 2, 4, 8 and so on, so that they do not fill a monitor.</summary>
    private void Dropped(ref long counter, ReadOnlySpan<byte> routingId, PeerLink? link, string why)
    {
        long count = Interlocked.Increment(ref counter);
        if (BitOperations.IsPow2(count) && !socket.Monitors.IsEmpty)
        {
            (string local, string remote) = link?.Ends ?? ("", "");
            socket.Monitors.Publish(new SocketEvent(SocketEventTypes.MessagesDropped, Math.Max(1, count / 2), default, local, remote, 0,
                $"not sent: {why}; {count} so far for that reason")
            {
                PeerRoutingId = routingId.ToArray(),
            });
        }
    }

    /// <summary>A name that the application gave counts from the first attempt on: before READY the peer could announce
    /// another's.</summary>
    private static ReadOnlyMemory<byte> NameOf(ZmpSession session) => session.Link.Alias
        ?? (session.IsReady ? session.Link.Peer.RoutingId : session.PeerRoutingId);

    private static HandshakeFailure CauseOf(ZmpSession session) => session.Fault switch
    {
        null => HandshakeFailure.Lost,
        { Origin: ZmpFaultOrigin.Received } => HandshakeFailure.ErrorReceived,
        { IsTimeout: true } => HandshakeFailure.TimedOut,
        { Code: ZmpErrorCode.SocketTypeMismatch } => HandshakeFailure.TypeMismatch,
        _ => HandshakeFailure.Malformed,
    };

    private void RaiseHandshakeEvent(ZmpSession session, bool isOurWish)
    {
        if (session.Fault is { FailsHandshakeAsProtocol: true } fault)
        {
            Publish(SocketEventTypes.HandshakeFailedProtocol, 0, session, fault.Reason);
        }
        else if (session.EndReason == DisconnectReason.HandshakeFailed)
        {
            Publish(SocketEventTypes.HandshakeFailedNoDetail, 0, session, session.EndDetail);
        }

        if (!isOurWish)
        {
            HandshakeFailure cause = CauseOf(session);
            socket.Counters.FailedHandshakes.Count(cause);
            if (!session.IsActive)
            {
                EndpointEvents.HandshakeFailed(socket.Host, session.Endpoint, session.Ends.Remote, cause, session.EndDetail);
            }
        }
    }
}
