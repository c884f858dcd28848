using Net.Zlink.Engine;
using Net.Zlink.Sockets.Endpoints;
using Net.Zlink.Sockets.Links;
using Net.Zlink.Sockets.Routing;

namespace Net.Zlink.Sockets;

internal sealed class BlockedRoute
{
    public WaiterList<RoutedSendWaiter> Waiters;

    public bool IsRetryPending { get; set; }

    public BlockedRoute? NextToRetry { get; set; }
}

/// <summary>Not thread-safe: under the lock of the <see cref="BlockedSendQueue"/>.</summary>
internal sealed class BlockedRoutes
{
    // Empty routes are kept, as many as waiters, so that a wait allocates nothing in steady state.
    private const int MaxCached = 64;

    private readonly HashSet<BlockedRoute> _routes = new(ByRoute.Instance);
    private readonly Dictionary<PeerSlot, BlockedRoute> _ofConnections = [];
    private readonly Stack<BlockedRoute> _cached = [];

    public BlockedRoute AnyRoute { get; } = new();

    public IEnumerable<BlockedRoute> All => _routes.Concat(_ofConnections.Values);

    public BlockedRoute? Find(ReadOnlySpan<byte> routeId) => _routes.Count > 0
        && _routes.GetAlternateLookup<ReadOnlySpan<byte>>().TryGetValue(routeId, out BlockedRoute? route) ? route : null;

    public BlockedRoute? Find(PeerSlot connection) => _ofConnections.Count > 0 ? _ofConnections.GetValueOrDefault(connection) : null;

    public BlockedRoute Add(RoutedSendWaiter waiter)
    {
        BlockedRoute? route = waiter.Connection is { } connection ? Find(connection) : waiter.HasRoute ? Find(waiter.RouteId) : AnyRoute;
        bool isNew = route is null;
        route ??= _cached.Count > 0 ? _cached.Pop() : new BlockedRoute();
        route.Waiters.Add(waiter);
        waiter.Route = route;
        if (isNew && waiter.Connection is { } key)
        {
            _ofConnections.Add(key, route);
        }
        else if (isNew)
        {
            _routes.Add(route);
        }

        return route;
    }

    public bool Remove(RoutedSendWaiter waiter)
    {
        if (waiter.Route is not { } route)
        {
            return false;
        }

        if ((waiter.HasRoute || waiter.Connection is not null) && waiter is { Previous: null, Next: null })
        {
            if (waiter.Connection is { } connection)
            {
                _ofConnections.RemoveAndTrim(connection, out _);
            }
            else
            {
                _routes.RemoveAndTrim(route);
            }

            if (_cached.Count < MaxCached)
            {
                _cached.Push(route);
            }
        }

        waiter.Route = null;
        return route.Waiters.Remove(waiter);
    }

    public RoutedSendWaiter? RemoveAll()
    {
        RoutedSendWaiter? all = null;
        RemoveAll(AnyRoute, ref all);
        foreach (BlockedRoute route in All)
        {
            RemoveAll(route, ref all);
        }

        _routes.Clear();
        _ofConnections.Clear();
        return all;
    }

    private static void RemoveAll(BlockedRoute route, ref RoutedSendWaiter? all)
    {
        while (route.Waiters.First is { } waiter)
        {
            route.Waiters.Remove(waiter);
            waiter.Route = null;
            waiter.Next = all;
            all = waiter;
        }
    }

    private sealed class ByRoute : IEqualityComparer<BlockedRoute>, IAlternateEqualityComparer<ReadOnlySpan<byte>, BlockedRoute>
    {
        public static readonly ByRoute Instance = new();

        public bool Equals(BlockedRoute? x, BlockedRoute? y) => ReferenceEquals(x, y);

        public bool Equals(ReadOnlySpan<byte> alternate, BlockedRoute other) => alternate.SequenceEqual(other.Waiters.First!.RouteId);

        public int GetHashCode(BlockedRoute obj) => RoutingIdComparer.Instance.GetHashCode(obj.Waiters.First!.RouteId);

        public int GetHashCode(ReadOnlySpan<byte> alternate) => RoutingIdComparer.Instance.GetHashCode(alternate);

        public BlockedRoute Create(ReadOnlySpan<byte> alternate) =>
            throw new NotSupportedException("A route's queue is created together with its first waiter.");
    }
}
