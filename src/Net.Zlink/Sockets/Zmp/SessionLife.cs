using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Sockets.Links;

namespace Net.Zlink.Sockets.Zmp;

internal sealed class SessionLife(SocketCore socket)
{
    public bool OnReady(ZmpSession session, PeerIdentity peer)
    {
        WireLink link = session.Link;
        bool again = link.IsAttached && link.WasConnected;
        bool isNew = !link.IsAttached;
        if (link.Alias is { } alias)
        {
            peer = peer with { RoutingId = alias };
        }

        bool isLeft = link.Dialer is { IsClosing: true };
        if (isLeft || !socket.TryAttach(link, peer))
        {
            return session.Held.WaitsFor is not null || IsRetained(session, peer, isLeft);
        }

        link.Session = session;
        link.WasConnected = true;
        if (link.Dialer is { } dialer && !dialer.OnReady())
        {
            socket.Detach(link, dropUnread: true); // Disconnected between the two checks: just attached again.
            return true;
        }

        if (link.Dialer is null && !socket.Has(link) && !socket.IsClosed)
        {
            // The endpoint was disconnected just now: the close follows what is sent, and the queue is released when this returns.
            session.Connection.RequestClose(DisconnectReason.Local, CloseMode.Orderly, session.Connection.Settings.CloseTimeout);
            return true;
        }

        socket.SendWelcome(link, isNew ? GreetingOccasion.NewLink : again ? GreetingOccasion.NextConnection
            : GreetingOccasion.FirstConnection);
        socket.Events.Publish(SocketEventTypes.ConnectionReady, 0, session, detail: null);
        return true;
    }

    public void OnClosing(ZmpSession session, bool wasReady)
    {
        WireLink link = session.Link;
        link.Session = null;
        if (session.Held.Peer is not null)
        {
            socket.Claims.Remove(session);
            socket.Receive.Drop(link.Lane);
        }

        socket.Events.Closing(session, wasReady);
        if (!session.OutboundSurvives)
        {
            socket.Detach(link, dropUnread: false);
        }
        else if (wasReady)
        {
            socket.OnConnectionLost(link, session);
        }
    }

    public void OnClosed(ZmpSession session)
    {
        socket.Endpoints.Sessions.Forget(session);
        if (!session.OutboundSurvives)
        {
            socket.FinalizeCounters(session.Link);
            session.Link.MarkDetached();
            session.Link.Accepted = null; // Unread messages must not keep the connection's memory.
        }

        OnLeft(session);
        session.Link.Dialer?.OnClosed();
        socket.Parts.Leave();
    }

    /// <summary>Nothing more is written, although the peer may not have ended its side: the dialer may go on.</summary>
    public static void OnLeft(ZmpSession session)
    {
        if (session.Link.Dialer is { } dialer && session.TryLeave())
        {
            dialer.OnEnded(ZmpConnecter.EndOf(session));
        }
    }

    private bool IsRetained(ZmpSession session, PeerIdentity peer, bool isLeft)
    {
        if ((isLeft || socket.IsClosed) && session.Link.Dialer is { } dialer)
        {
            session.Link.Session = session; // It only delivers what is queued.
            dialer.OnReady();
            return true;
        }

        if (socket.IsClosed)
        {
            session.Connection.Close(socket.End.Outcome == SendStatus.Terminated ? DisconnectReason.ContextTerminated
                : DisconnectReason.Local, CloseMode.Orderly, detail: null);
            return false;
        }

        string why = socket.RefusalReason(peer);
        socket.Events.Refused(session, why);
        session.Connection.Close(DisconnectReason.Refused, CloseMode.Orderly, why);
        return false;
    }
}
