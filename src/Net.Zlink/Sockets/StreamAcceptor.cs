using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Protocol.Stream;
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

internal interface IPeerFactory
{
    /// <summary>Makes the link's connection, which the caller starts.</summary>
    Connection Create(StreamHub hub, StreamLink link, Wire wire, StreamSettings settings);
}

internal sealed record StreamSettings(ConnectionSettings Connection, TransportSettings Transport, QueueLimits Inbound, int MaxConnections);

internal sealed class FramedPeers(Func<StreamLink, StreamSettings, IConnectionSink> newSink) : IPeerFactory
{
    public Connection Create(StreamHub hub, StreamLink link, Wire wire, StreamSettings settings)
    {
        IConnectionSink sink = newSink(link, settings);
        var outbound = new OutboundQueue(hub.Host.Pool, StreamFraming.Format, settings.Connection.Outbound, hub.Host.Queued)
        {
            CapacityAvailable = link.OnCapacity,
        };
        return new Connection(wire, hub.Host.Shards.For(wire), hub.Host.Pool, settings.Connection, sink, outbound)
        {
            Unfinished = hub.Host.Unfinished,
        };
    }
}
