using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Sockets.Pipes;

namespace Net.Zlink.Sockets.Zmp;

/// <summary>What the turns in a connection's life mean to its socket: its pipe gets its place, loses it, and is let go of. Called by the connection, on its shard.</summary>
internal sealed class SessionLife(SocketCore socket)
{
    /// <summary>A session's handshake is complete, or it has waited for a place and comes again. False: the peer is turned away, and the connection is closing. True: it has its place, or waits for it.</summary>
    public bool OnReady(ZmpSession session, PeerIdentity peer)
    {
        WirePipe pipe = session.Pipe;
        bool again = pipe.IsAttached && pipe.WasConnected;
        bool isNew = !pipe.IsAttached;
        if (pipe.Alias is { } alias)
        {
            peer = peer with { RoutingId = alias };
        }

        bool isLeft = pipe.Dialer is { IsClosing: true };
        if (isLeft || !socket.TryAttach(pipe, peer))
        {
            return session.Held.WaitsFor is not null || IsKept(session, peer, isLeft);
        }

        pipe.Session = session;
        pipe.WasConnected = true;
        Interlocked.MemoryBarrier(); // As in ZmpDialer.DeliverRest.
        if (pipe.Dialer is { IsClosing: true } closing)
        {
            socket.Detach(pipe, dropUnread: true); // Disconnected between the two looks: attached again just now.
            closing.DeliverRest(session);
            return true;
        }

        if (pipe.Dialer is null && !socket.Has(pipe) && !socket.IsClosed)
        {
            session.Connection.RequestClose(DisconnectReason.Local, CloseMode.Orderly, session.Connection.Settings.CloseTimeout); // Thrown out in this moment. Behind what is sent to it: the queue is let go of when this returns.
            return true;
        }

        socket.Greet(pipe, isNew ? GreetingOccasion.NewPipe : again ? GreetingOccasion.NextConnection : GreetingOccasion.FirstConnection);
        socket.Events.Publish(SocketEventTypes.ConnectionReady, 0, session, detail: null);
        return true;
    }

    /// <summary>A connection takes no more in and out.</summary>
    public void OnClosing(ZmpSession session, bool wasReady)
    {
        WirePipe pipe = session.Pipe;
        pipe.Session = null;
        if (session.Held.Peer is not null)
        {
            socket.Claims.Remove(session);
            socket.Receive.Drop(pipe.Lane); // It never had a place.
        }

        socket.Events.Closing(session, wasReady);
        if (!session.OutboundSurvives)
        {
            socket.Detach(pipe, dropUnread: false);
        }
        else if (wasReady)
        {
            socket.OnConnectionLost(pipe, session);
        }
    }

    /// <summary>A connection is over.</summary>
    public void OnClosed(ZmpSession session)
    {
        socket.Endpoints.Forget(session);
        if (!session.OutboundSurvives)
        {
            socket.CloseBooks(session.Pipe);
            session.Pipe.BecomeRest();
            session.Pipe.Accepted = null; // What is unread, be it for hours, keeps no connection.
        }

        socket.Leave();
    }

    /// <summary>The socket has no place for it: it may have something to deliver all the same.</summary>
    private bool IsKept(ZmpSession session, PeerIdentity peer, bool isLeft)
    {
        if ((isLeft || socket.IsClosed) && session.Pipe.Dialer is { } dialer)
        {
            dialer.DeliverRest(session); // Of a closed socket it may be told in a moment only.
            return true;
        }

        if (socket.IsClosed)
        {
            // It came to the end of its handshake while the socket was being closed: nothing is wrong with the peer.
            session.Connection.Close(socket.End.Outcome == SendStatus.Terminated ? DisconnectReason.ContextTerminated : DisconnectReason.Local, CloseMode.Orderly, detail: null);
            return false;
        }

        string why = socket.WhyNoPlace(peer);
        socket.Events.Refused(session, why);
        session.Connection.Close(DisconnectReason.Refused, CloseMode.Orderly, why);
        return false;
    }
}
