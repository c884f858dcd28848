namespace Net.Zlink.Sockets.Links;

/// <summary>Whom a send is for: a connection, else the peer with a routing id, else any peer.</summary>
internal readonly ref struct SendTarget(ReadOnlySpan<byte> routeId, PeerSlot? connection = null)
{
    public ReadOnlySpan<byte> RouteId { get; } = connection is null ? routeId : [];

    public PeerSlot? Connection => connection;

    public bool IsAny => Connection is null && RouteId.IsEmpty;
}
