using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Sockets.Endpoints;
using Net.Zlink.Sockets.Links;
using Net.Zlink.Transports;

namespace Net.Zlink.Sockets.Zmp;

internal sealed class ZmpAcceptor(SocketCore socket, ZmpSettings settings) : IAcceptor
{
    public string? AcquireConnection() => socket.Connections.AcquireConnection();

    public void ReleaseConnection() => socket.Connections.ReleaseConnection();

    public void Begin(Wire wire, BoundListener listener)
    {
        var link = new WireLink(socket, settings) { Endpoint = listener.Endpoint, IsActive = false, Listener = listener };
        new ZmpSession(socket, settings, link, wire).Start();
    }

    public void CloseConnections(BoundListener listener)
    {
        foreach (WireLink link in socket.Connections.Of(listener))
        {
            link.Lane.Close();
            socket.Detach(link, dropUnread: false);
            link.Accepted?.RequestClose(DisconnectReason.Local, CloseMode.Orderly, listener.Linger);
        }
    }
}
