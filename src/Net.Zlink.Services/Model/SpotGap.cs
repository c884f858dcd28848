namespace Net.Zlink.Services;

/// <summary>A time in which messages of one node may be missing: the connection to it was lost and made again.</summary>
/// <param name="Endpoint">Where the node is connected, without the query.</param>
/// <param name="RoutingId">The id of the node's publishing socket, now. A node that was restarted has another one.</param>
/// <param name="From">Until then the connection is known to have worked: the longest silence that heartbeats allow before its
/// end.</param>
/// <param name="Until">The connection was ready again. The subscriptions arrive one trip later.</param>
public sealed record SpotGap(string Endpoint, RoutingId RoutingId, DateTimeOffset From, DateTimeOffset Until);
