using Net.Zlink.Sockets.Links;
using Net.Zlink.Sockets.Routing;

namespace Net.Zlink.Sockets.Patterns;

/// <summary>What ended connections have left unread, by routing id. A peer that connects again is received behind it.</summary>
internal sealed class UnreadLanes(ReceiveQueue queue)
{
    private const int MinLimit = 16;

    private readonly Dictionary<byte[], InboundLane> _lanes = new(RoutingIdComparer.Instance);
    private int _limit = MinLimit;

    public void Set(byte[] routeId, InboundLane lane)
    {
        _lanes[routeId] = lane;
        if (_lanes.Count <= _limit)
        {
            return;
        }

        // Rarely, and most have been read by now: so each end of a connection costs the same on average.
        foreach ((byte[] id, InboundLane one) in _lanes)
        {
            if (queue.IsDrained(one))
            {
                _lanes.Remove(id);
            }
        }

        _limit = Math.Max(MinLimit, 2 * _lanes.Count);
    }

    public void Precede(byte[] routeId, InboundLane successor)
    {
        if (_lanes.Remove(routeId, out InboundLane? lane) && !ReferenceEquals(lane, successor))
        {
            queue.Follow(lane, successor);
        }
    }
}
