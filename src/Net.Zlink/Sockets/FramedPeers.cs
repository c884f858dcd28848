using Net.Zlink.Engine;
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

        return new Connection(wire, hub.Host.Shards.For(wire), hub.Host.Pool, settings.Connection, sink, link, hub.Host.Queued,
            link.OnCapacity)
        {
            Unfinished = hub.Host.Unfinished,
        };
    }
}
