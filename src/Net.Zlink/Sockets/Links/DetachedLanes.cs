using Net.Zlink.Sockets.Routing;

namespace Net.Zlink.Sockets.Links;

/// <summary>
/// Unread messages of disconnected peers have turns like others; the same peer's messages over its next connection wait behind them.
/// </summary>
internal sealed class DetachedLanes
{
    private readonly Dictionary<InboundLane, DetachedLane> _all = [];
    private readonly Dictionary<byte[], DetachedLane> _newest = new(RoutingIdComparer.Instance);
    private readonly Dictionary<InboundLane, DetachedLane> _before = [];

    public bool IsEmpty => _all.Count == 0;

    /// <summary><paramref name="routingId"/>: all peers without an id count as one, because they cannot be distinguished.</summary>
    public void Add(InboundLane lane, byte[] routingId)
    {
        if (_all.ContainsKey(lane))
        {
            return;
        }

        AddFollower(lane, routingId);
        var detached = new DetachedLane(lane, routingId);
        _all.Add(lane, detached);
        _newest[routingId] = detached;
    }

    public void AddFollower(InboundLane lane, byte[] routingId)
    {
        if (_newest.TryGetValue(routingId, out DetachedLane? detached) && !_all.ContainsKey(lane) && _before.TryAdd(lane, detached))
        {
            detached.Followers.Add(lane);
        }
    }

    public bool MustWaitFor(InboundLane lane)
    {
        if (!_before.TryGetValue(lane, out DetachedLane? detached))
        {
            return false;
        }

        detached.Waiting.Add(lane);
        return true;
    }

    public void OnDrained(InboundLane lane, ref ReadyLanes readyLanes)
    {
        if (_all.ContainsKey(lane))
        {
            Remove(lane, ref readyLanes);
        }
    }

    public void Remove(InboundLane lane, ref ReadyLanes readyLanes)
    {
        if (_before.Remove(lane, out DetachedLane? before))
        {
            before.Followers.Remove(lane);
            before.Waiting.Remove(lane);
        }

        if (!_all.Remove(lane, out DetachedLane? detached))
        {
            return;
        }

        if (_newest.GetValueOrDefault(detached.RoutingId) == detached)
        {
            _newest.Remove(detached.RoutingId);
            if (before is not null)
            {
                _newest.Add(detached.RoutingId, before);
            }
        }

        foreach (InboundLane follower in detached.Followers)
        {
            _before.Remove(follower);
            if (before is not null)
            {
                _before.Add(follower, before);
                before.Followers.Add(follower);
            }
        }

        foreach (InboundLane waiting in detached.Waiting)
        {
            if (before is null)
            {
                readyLanes.Enqueue(waiting);
            }
            else
            {
                before.Waiting.Add(waiting);
            }
        }
    }

    public IEnumerable<InboundLane> WaitingLanes => _all.Values.SelectMany(static detached => detached.Waiting);

    private sealed class DetachedLane(InboundLane lane, byte[] routingId)
    {
        public InboundLane Lane => lane;

        public byte[] RoutingId => routingId;

        public HashSet<InboundLane> Followers { get; } = [];

        public List<InboundLane> Waiting { get; } = [];
    }
}
