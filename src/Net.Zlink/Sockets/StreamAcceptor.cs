using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Sockets.Endpoints;
using Net.Zlink.Transports;

namespace Net.Zlink.Sockets;

internal sealed class StreamAcceptor(StreamHub hub, StreamSettings settings, IPeerFactory factory) : IAcceptor
{
    public string? AcquireConnection() => hub.AcquireConnection(settings);

    public void ReleaseConnection() => hub.Links.ReleaseConnection();

    public void Begin(Wire wire, BoundListener listener)
    {
        try
        {
            if (factory.Create(hub, wire, settings, listener.Endpoint, origin: listener) == 0)
            {
                ReleaseConnection();
            }
        }
        finally
        {
            hub.Parts.Leave(); // The link has entered by itself.
        }
    }

    public void CloseConnections(BoundListener listener)
    {
        foreach (StreamLink link in hub.Links.Of(listener))
        {
            link.RetainsUnread = true;
            link.RequestClose(DisconnectReason.Local, CloseMode.Orderly, listener.Linger);
        }
    }
}

internal interface IPeerFactory
{
    /// <summary>
    /// Returns the peer's id, or 0 if the connection was reset at once (the wire is disposed). The caller has entered the socket.
    /// </summary>
    uint Create(StreamHub hub, Wire wire, StreamSettings settings, RedactedEndpoint endpoint, IConnectionOrigin origin);
}

internal sealed record StreamSettings(ConnectionSettings Connection, TransportSettings Transport, QueueLimits Inbound, int MaxConnections);
