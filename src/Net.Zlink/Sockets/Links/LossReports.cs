using System.Numerics;
using Net.Zlink.Engine;
using Net.Zlink.Monitoring;

namespace Net.Zlink.Sockets.Links;

/// <summary>Counts and reports messages that are not sent or not written. Any thread, outside of all locks.</summary>
internal sealed class LossReports(EngineHost host, SocketMonitors monitors, SocketCounters counters)
{
    public void NotWritten(PeerLink link, in QueueCounts dropped)
    {
        (string local, string remote) = link.Ends;
        monitors.Publish(new SocketEvent(
            SocketEventTypes.MessagesDropped, dropped.MissedMessages, link.Peer.RoutingId, local, remote, 0,
                "accepted, but not written when the connection ended")
        {
            PeerRoutingId = link.Peer.RoutingId,
        });
        host.Warnings.Undelivered(PeerIdentity.NameOf(link.Peer.RoutingId), link.Endpoint, dropped.MissedMessages, dropped.MissedBytes);
    }

    public void DroppedForMemory(PeerLink link)
    {
        link.CountDroppedAtMark();
        Dropped(ref counters.DroppedAtContextLimit, link.Peer.RoutingId, link, "no memory for a buffer");
    }

    public void DroppedAtMark(PeerLink link)
    {
        link.CountDroppedAtMark();
        switch (link.FullCause)
        {
            case FullCause.Context:
                Dropped(ref counters.DroppedAtContextLimit, link.Peer.RoutingId, link, "the context is at its QueuedByteLimit");
                break;
            case FullCause.Bytes:
                Dropped(ref counters.DroppedAtByteLimit, link.Peer.RoutingId, link, "the peer is at its byte limit");
                break;
            default:
                Dropped(ref counters.DroppedAtHighWaterMark, link.Peer.RoutingId, link, "the peer is at its high-water mark");
                break;
        }
    }

    public void DroppedUnroutable(ReadOnlySpan<byte> routeId) =>
        Dropped(ref counters.DroppedUnroutable, routeId, link: null, "no peer has that routing id");

    /// <summary>Counts each, and publishes at 1, 2, 4, 8 and so on, so that they do not fill a monitor.</summary>
    private void Dropped(ref long counter, ReadOnlySpan<byte> routingId, PeerLink? link, string why)
    {
        long count = Interlocked.Increment(ref counter);
        if (BitOperations.IsPow2(count) && !monitors.IsEmpty)
        {
            (string local, string remote) = link?.Ends ?? ("", "");
            monitors.Publish(new SocketEvent(SocketEventTypes.MessagesDropped, Math.Max(1, count / 2), default, local, remote, 0,
                $"not sent: {why}; {count} so far for that reason")
            {
                PeerRoutingId = routingId.ToArray(),
            });
        }
    }
}
