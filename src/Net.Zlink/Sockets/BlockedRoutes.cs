using Net.Zlink.Engine;
using Net.Zlink.Sockets.Links;
using Net.Zlink.Sockets.Routing;

namespace Net.Zlink.Sockets;

/// <summary>Sends that wait for one peer, or for whomever the socket chooses, in the order in which they came.</summary>
internal sealed class BlockedRoute
{
    /// <summary>Those who wait.</summary>
    public WaiterList<RoutedSendWaiter> Waiters;

    /// <summary>It is to be moved, and stands in the list of those that are.</summary>
    public bool IsRetryPending { get; set; }

    public BlockedRoute? NextToRetry { get; set; }
}

/// <summary>Who waits at one socket, in a line for each peer that somebody waits for. Not thread-safe: under the lock of the
/// <see cref="BlockedSendQueue"/>.</summary>
internal sealed class BlockedRoutes
{
    // Lines kept for the next wait, so that a wait allocates nothing in steady state: as many as waiters are kept.
    private const int MaxCached = 64;

    private readonly HashSet<BlockedRoute> _routes = new(ByRoute.Instance);
    private readonly Dictionary<PeerSlot, BlockedRoute> _ofConnections = [];
    private readonly Stack<BlockedRoute> _cached = [];

    /// <summary>Those who leave it to the socket whom their message goes to.</summary>
    public BlockedRoute Anyone { get; } = new();

    /// <summary>The lines of peers and connections, each with somebody in it.</summary>
    public IEnumerable<BlockedRoute> All => _routes.Concat(_ofConnections.Values);

    /// <summary>The line of those who wait for one peer; null if nobody does.</summary>
    public BlockedRoute? Find(ReadOnlySpan<byte> routeId) => _routes.Count > 0
        && _routes.GetAlternateLookup<ReadOnlySpan<byte>>().TryGetValue(routeId, out BlockedRoute? route) ? route : null;

    /// <summary>The line of those who wait for one connection; null if nobody does.</summary>
    public BlockedRoute? Find(PeerSlot connection) => _ofConnections.Count > 0 ? _ofConnections.GetValueOrDefault(connection) : null;

    /// <summary>Puts a waiter at the end of its line.</summary>
    public BlockedRoute Add(RoutedSendWaiter waiter)
    {
        BlockedRoute? route = waiter.Connection is { } connection ? Find(connection) : waiter.HasRoute ? Find(waiter.RouteId) : Anyone;
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

    /// <summary>Takes a waiter out of its line. False if it stands in none.</summary>
    public bool Remove(RoutedSendWaiter waiter)
    {
        if (waiter.Route is not { } route)
        {
            return false;
        }

        if ((waiter.HasRoute || waiter.Connection is not null) && waiter is { Previous: null, Next: null })
        {
            // While its last waiter says whose it is.
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

    /// <summary>Takes everybody out, linked.</summary>
    public RoutedSendWaiter? RemoveAll()
    {
        RoutedSendWaiter? all = null;
        RemoveAll(Anyone, ref all);
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

    /// <summary>A line is found by the peer that its first waiter names, as all others in it do.</summary>
    private sealed class ByRoute : IEqualityComparer<BlockedRoute>, IAlternateEqualityComparer<ReadOnlySpan<byte>, BlockedRoute>
    {
        public static readonly ByRoute Instance = new();

        public bool Equals(BlockedRoute? x, BlockedRoute? y) => ReferenceEquals(x, y);

        public bool Equals(ReadOnlySpan<byte> alternate, BlockedRoute other) => alternate.SequenceEqual(other.Waiters.First!.RouteId);

        public int GetHashCode(BlockedRoute obj) => RoutingIdComparer.Instance.GetHashCode(obj.Waiters.First!.RouteId);

        public int GetHashCode(ReadOnlySpan<byte> alternate) => RoutingIdComparer.Instance.GetHashCode(alternate);

        public BlockedRoute Create(ReadOnlySpan<byte> alternate) =>
            throw new NotSupportedException("A line is made with its first waiter.");
    }
}
