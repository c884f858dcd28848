using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Sockets.Endpoints;
using Net.Zlink.Sockets.Links;
using Net.Zlink.Transports;

namespace Net.Zlink.Sockets.Zmp;

internal sealed class ZmpAcceptor(SocketCore socket, ZmpSettings settings) : IAcceptor
{
    public string? AcquireConnection() => socket.Endpoints.Sessions.AcquireConnection();

    public void ReleaseConnection() => socket.Endpoints.Sessions.ReleaseConnection();

    public void Begin(Wire wire, BoundListener listener)
    {
        var link = new WireLink(socket, settings) { Endpoint = listener.Endpoint, IsActive = false };
        var session = new ZmpSession(socket, settings, link, wire, listener.Endpoint, listener);
        if (!wire.HadHandshake)
        {
            socket.Events.Publish(SocketEventTypes.Accepted, wire.Handle, session, detail: null);
        }

        socket.Endpoints.Sessions.Track(session);
        session.Start();
    }

    public void CloseConnections(BoundListener listener)
    {
        foreach (ZmpSession session in socket.Endpoints.Sessions.Of(listener))
        {
            session.Link.Lane.Close();
            socket.Detach(session.Link, dropUnread: false);
            session.Connection.RequestClose(DisconnectReason.Local, CloseMode.Orderly, listener.Linger);
        }
    }
}
