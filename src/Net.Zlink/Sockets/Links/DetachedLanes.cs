using Net.Zlink.Sockets.Routing;

namespace Net.Zlink.Sockets.Links;

/// <summary>What peers that have left had sent and nobody has received yet: it has its turns like everything else, and what the same peer
/// sends over its next connection waits behind it. Not thread-safe: under the receive queue's lock.</summary>
/// <remarks>Only there while there is such a rest, so receiving costs nothing for it otherwise.</remarks>
internal sealed class DetachedLanes
{
    private readonly Dictionary<InboundLane, DetachedLane> _all = [];
    private readonly Dictionary<byte[], DetachedLane> _newest = new(RoutingIdComparer.Instance);
    private readonly Dictionary<InboundLane, DetachedLane> _before = [];

    /// <summary>Nothing of a peer that has left is unread.</summary>
    public bool IsEmpty => _all.Count == 0;

    /// <summary>A connection is over, and messages of it are unread.</summary>
    /// <param name="lane">Where they are.</param>
    /// <param name="routingId">Whose they are. Peers without an id are taken for one: none of them can be told from another.</param>
    public void Add(InboundLane lane, byte[] routingId)
    {
        if (_all.ContainsKey(lane))
        {
            return;
        }

        AddFollower(lane, routingId); // Of two connections under one id, both over, the first that was.
        var rest = new DetachedLane(lane, routingId);
        _all.Add(lane, rest);
        _newest[routingId] = rest;
    }

    /// <summary>A peer is there by another connection: what it sends waits until what it had sent is received.</summary>
    public void AddFollower(InboundLane lane, byte[] routingId)
    {
        // A rest whose pipe is taken in once more, to be thrown out at once, waits for none that came after it: they wait for it.
        if (_newest.TryGetValue(routingId, out DetachedLane? rest) && !_all.ContainsKey(lane) && _before.TryAdd(lane, rest))
        {
            rest.Followers.Add(lane);
        }
    }

    /// <summary>It is not this lane's turn: messages of the same peer come first. Then it stands in the line again.</summary>
    public bool MustWaitFor(InboundLane lane)
    {
        if (!_before.TryGetValue(lane, out DetachedLane? rest))
        {
            return false;
        }

        rest.Waiting.Add(lane);
        return true;
    }

    /// <summary>A lane was found empty. If it was a rest, those that waited for it stand in the line.</summary>
    public void OnDrained(InboundLane lane, ref ReadyLanes readyLanes)
    {
        if (_all.ContainsKey(lane))
        {
            Remove(lane, ref readyLanes);
        }
    }

    /// <summary>A lane is over, and nothing of it is unread. Those that waited for it stand in the line, or wait for what it waited
    /// for.</summary>
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
                _newest.Add(rest.RoutingId, before); // It was dropped, and is not what comes first.
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

    /// <summary>Those that wait, and stand in no line.</summary>
    public IEnumerable<InboundLane> WaitingLanes => _all.Values.SelectMany(static rest => rest.Waiting);

    private sealed class DetachedLane(InboundLane lane, byte[] routingId)
    {
        public InboundLane Lane => lane;

        public byte[] RoutingId => routingId;

        /// <summary>What the same peer has sent since, or will.</summary>
        public HashSet<InboundLane> Followers { get; } = [];

        /// <summary>Those of them whose turn it was: they have messages.</summary>
        public List<InboundLane> Waiting { get; } = [];
    }
}
