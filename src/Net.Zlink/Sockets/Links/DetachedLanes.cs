using Net.Zlink.Sockets.Routing;

namespace Net.Zlink.Sockets.Links;

/// <summary>
/// Unread messages of disconnected peers. They have turns like others, and the same peer's messages over its next connection wait behind
/// them. Not thread-safe: under the receive queue's lock.
/// </summary>
/// <remarks>Exists only while there are such messages, so receiving otherwise costs nothing for it.</remarks>
internal sealed class DetachedLanes
{
    private readonly Dictionary<InboundLane, DetachedLane> _all = [];
    private readonly Dictionary<byte[], DetachedLane> _newest = new(RoutingIdComparer.Instance);
    private readonly Dictionary<InboundLane, DetachedLane> _before = [];

    public bool IsEmpty => _all.Count == 0;

    /// <summary>A connection has ended with unread messages.</summary>
    /// <param name="lane">Its lane.</param>
    /// <param name="routingId">Its peer. All peers without an id count as one, because they cannot be distinguished.</param>
    public void Add(InboundLane lane, byte[] routingId)
    {
        if (_all.ContainsKey(lane))
        {
            return;
        }

        AddFollower(lane, routingId); // Two ended connections with one id: the first to end comes first.
        var rest = new DetachedLane(lane, routingId);
        _all.Add(lane, rest);
        _newest[routingId] = rest;
    }

    /// <summary>The peer has another connection: its messages wait until the earlier ones are received.</summary>
    public void AddFollower(InboundLane lane, byte[] routingId)
    {
        // A detached lane whose link is attached again, to be disconnected at once, does not wait for later lanes. They wait for it.
        if (_newest.TryGetValue(routingId, out DetachedLane? rest) && !_all.ContainsKey(lane) && _before.TryAdd(lane, rest))
        {
            rest.Followers.Add(lane);
        }
    }

    /// <summary>Earlier messages of the same peer come first. The lane becomes ready again after them.</summary>
    public bool MustWaitFor(InboundLane lane)
    {
        if (!_before.TryGetValue(lane, out DetachedLane? rest))
        {
            return false;
        }

        rest.Waiting.Add(lane);
        return true;
    }

    /// <summary>A lane is empty. The lanes that waited for it become ready.</summary>
    public void OnDrained(InboundLane lane, ref ReadyLanes readyLanes)
    {
        if (_all.ContainsKey(lane))
        {
            Remove(lane, ref readyLanes);
        }
    }

    /// <summary>A lane has ended without unread messages. The lanes that waited for it become ready, or wait for its predecessor.</summary>
    public void Remove(InboundLane lane, ref ReadyLanes readyLanes)
    {
        if (_before.Remove(lane, out DetachedLane? before))
        {
            before.Followers.Remove(lane);
            before.Waiting.Remove(lane);
        }

        if (!_all.Remove(lane, out DetachedLane? rest))
        {
            return;
        }

        if (_newest.GetValueOrDefault(rest.RoutingId) == rest)
        {
            _newest.Remove(rest.RoutingId);
            if (before is not null)
            {
                _newest.Add(rest.RoutingId, before); // It was dropped, and is not the first.
            }
        }

        foreach (InboundLane follower in rest.Followers)
        {
            _before.Remove(follower);
            if (before is not null)
            {
                _before.Add(follower, before);
                before.Followers.Add(follower);
            }
        }

        foreach (InboundLane waiting in rest.Waiting)
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

    /// <summary>Lanes with messages that are not ready because they wait.</summary>
    public IEnumerable<InboundLane> WaitingLanes => _all.Values.SelectMany(static rest => rest.Waiting);

    private sealed class DetachedLane(InboundLane lane, byte[] routingId)
    {
        public InboundLane Lane => lane;

        public byte[] RoutingId => routingId;

        public HashSet<InboundLane> Followers { get; } = [];

        /// <summary>Those of them that have messages and had their turn.</summary>
        public List<InboundLane> Waiting { get; } = [];
    }
}
