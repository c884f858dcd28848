using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Sockets.Endpoints;
using Net.Zlink.Transports;

namespace Net.Zlink.Sockets;

internal sealed class FramedPeers : IPeerFactory
{
    private readonly IConnectionSink _sink;
    private readonly bool _pulled;

    public FramedPeers(IConnectionSink sink, bool pulled)
    {
        _sink = sink;
        _pulled = pulled;
    }

    public uint Create(StreamHub hub, Wire wire, StreamSettings settings, RedactedEndpoint endpoint, IConnectionOrigin origin)
    {
        if (wire.RemoteEndPoint is null)
        {
            wire.Dispose();
            return 0;
        }

        StreamLink link = hub.Links.Register(endpoint, origin, wire);
        var connection = new Connection(wire, hub.Host.Shards.For(wire), hub.Host.Pool, settings.Connection, _sink, link,
            hub.Host.Queued, link.OnCapacity)
        {
            Unfinished = hub.Host.Unfinished,
        };
        link.Connection = connection;
        if (_pulled)
        {
            link.AddLane(settings.Inbound);
        }

        Report(hub, link, wire);
        hub.Announce(link);
        if (_pulled)
        {
            hub.AnnounceConnect(link);
        }

        connection.Start();
        return link.Id;
    }

    public static void Report(StreamHub hub, StreamLink link, Wire wire)
    {
        if (hub.Monitors.IsEmpty)
        {
            return;
        }

        (string ours, string theirs) = link.Ends;
        if (!wire.HadHandshake)
        {
            bool accepted = link.Origin is BoundListener;
            hub.Monitors.Publish(accepted ? SocketEventTypes.Accepted : SocketEventTypes.Connected, wire.Handle, ours, theirs,
                link.Id);
        }

        hub.Monitors.Publish(SocketEventTypes.ConnectionReady, 0, ours, theirs, link.Id);
    }
}
