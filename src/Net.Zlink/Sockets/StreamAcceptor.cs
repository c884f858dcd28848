using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Sockets.Endpoints;
using Net.Zlink.Transports;

namespace Net.Zlink.Sockets;

internal sealed class StreamAcceptor(StreamHub hub, StreamSettings settings, PeerFactory factory) : IAcceptor
{
    public string? AcquireConnection() => hub.AcquireConnection(settings);

    public void ReleaseConnection() => hub.Links.ReleaseConnection();

    public void Begin(Wire wire, BoundListener listener)
    {
        try
        {
            if (hub.Open(wire, settings, factory, listener.Endpoint, origin: listener) is null)
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

/// <summary>Makes the link's connection, which the caller starts.</summary>
internal delegate Connection PeerFactory(StreamLink link, Wire wire, StreamSettings settings);

internal sealed record StreamSettings(ConnectionSettings Connection, TransportSettings Transport, QueueLimits Inbound, int MaxConnections);
