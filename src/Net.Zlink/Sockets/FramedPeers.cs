using Net.Zlink.Engine;
using Net.Zlink.Protocol.Stream;
using Net.Zlink.Transports;

namespace Net.Zlink.Sockets;

internal sealed class FramedPeers(IConnectionSink sink, bool pulled) : IPeerFactory
{
    public Connection Create(StreamHub hub, StreamLink link, Wire wire, StreamSettings settings)
    {
        if (pulled)
        {
            link.AddLane(settings.Inbound);
        }

        var outbound = new OutboundQueue(hub.Host.Pool, StreamFormat.Instance, settings.Connection.Outbound, hub.Host.Queued)
        {
            CapacityAvailable = link.OnCapacity,
        };
        return new Connection(wire, hub.Host.Shards.For(wire), hub.Host.Pool, settings.Connection, sink, link, outbound,
            settings.Connection.StreamScanner)
        {
            Unfinished = hub.Host.Unfinished,
        };
    }
}
