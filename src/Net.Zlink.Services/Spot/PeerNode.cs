namespace Net.Zlink.Services;

/// <summary>A node that this one is connected to, by the routing id of its publishing socket. Guarded by the lock of the
/// <see cref="PeerSet"/>.</summary>
internal sealed class PeerNode(RoutingId id)
{
    /// <summary>One address; several only if one configured id is used by several nodes.</summary>
    public List<SpotPeer> Ready { get; } = new(capacity: 1);

    /// <summary>Further addresses of the same node, which are not connected meanwhile.</summary>
    public List<SpotPeer> Alternates { get; } = [];

    public RoutingId Id => id;

    /// <summary>Whether this is an id that sockets make for themselves, ours and native ones: 16 bytes in the form of a random UUID.
    /// Only those are unique.</summary>
    public bool IsRandom { get; } = id.Length == 16 && (id.Span[6] & 0xF0) == 0x40 && (id.Span[8] & 0xC0) == 0x80;
}

/// <summary>Which addresses are the same node. Knows no sockets.</summary>
internal sealed class PeerNodes
{
    private readonly Dictionary<RoutingId, PeerNode> _nodes = [];

    public PeerNode? Find(RoutingId id) => _nodes.GetValueOrDefault(id);

    /// <summary>A handshake has shown which node is at an address.</summary>
    /// <returns>False: that node is connected by another address, and this one becomes an alternate.</returns>
    public bool Join(SpotPeer peer, RoutingId id)
    {
        if (!_nodes.TryGetValue(id, out PeerNode? node))
        {
            id = id.Copy();
            _nodes.Add(id, node = new PeerNode(id));
        }

        peer.Node = node;
        peer.IsReady = !node.IsRandom || node.Ready.Count == 0;
        (peer.IsReady ? node.Ready : node.Alternates).Add(peer);
        return peer.IsReady;
    }

    /// <summary>Its connection has ended, or it is an alternate no more.</summary>
    /// <returns>The alternates, which have no node now, if this was the address that was connected.</returns>
    public SpotPeer[] Leave(SpotPeer peer)
    {
        if (peer.Node is not { } node)
        {
            return [];
        }

        SpotPeer[] released = peer.IsReady && node.Ready.Count == 1 ? [.. node.Alternates] : [];
        node.Ready.Remove(peer);
        node.Alternates.Remove(peer);
        (peer.Node, peer.IsReady) = (null, false);
        Array.ForEach(released, static alternate => alternate.Node = null);
        if (node.Ready.Count == 0)
        {
            _nodes.Remove(node.Id);
        }

        return released;
    }
}
