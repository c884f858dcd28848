using System.Runtime.CompilerServices;
using Net.Zlink.Engine;
using Net.Zlink.Sockets.Endpoints;
using Net.Zlink.Sockets.Routing;

namespace Net.Zlink.Sockets.Links;

internal sealed class BlockedRoute
{
    public WaiterList<SendWaiter> Waiters;

    public bool IsRetryPending { get; set; }

    public BlockedRoute? NextToRetry { get; set; }
}

/// <summary>Not thread-safe: under the lock of the <see cref="BlockedSendQueue"/>.</summary>
internal sealed class BlockedRoutes
{
    // Empty routes are kept, as many as waiters, so that a wait allocates nothing in steady state.
    private const int MaxCached = 64;

    private readonly HashSet<BlockedRoute> _routes = new(ByTarget.Instance);
    private readonly Stack<BlockedRoute> _cached = [];

    public BlockedRoute AnyRoute { get; } = new();

    public IEnumerable<BlockedRoute> All => _routes;

    /// <summary>A send to any peer is behind those to a certain one; one to a peer is also behind those to any.</summary>
    public bool HasEarlierWaiter(in SendTarget target) => (target.Connection is null && !AnyRoute.Waiters.IsEmpty)
        || (!target.IsAny && Find(target) is not null);

    public BlockedRoute? Find(in SendTarget target) => target.IsAny ? AnyRoute
        : _routes.Count > 0 && _routes.GetAlternateLookup<SendTarget>().TryGetValue(target, out BlockedRoute? route) ? route : null;

    public BlockedRoute Add(SendWaiter waiter)
    {
        BlockedRoute? found = Find(waiter.Target);
        BlockedRoute route = found ?? (_cached.Count > 0 ? _cached.Pop() : new BlockedRoute());
        route.Waiters.Add(waiter);
        waiter.Route = route;
        if (found is null)
        {
            _routes.Add(route); // Known by its first waiter.
        }

        return route;
    }

    public bool Remove(SendWaiter waiter)
    {
        if (waiter.Route is not { } route)
        {
            return false;
        }

        if (!ReferenceEquals(route, AnyRoute) && waiter is { Previous: null, Next: null })
        {
            _routes.RemoveAndTrim(route);
            if (_cached.Count < MaxCached)
            {
                _cached.Push(route);
            }
        }

        waiter.Route = null;
        return route.Waiters.Remove(waiter);
    }

    public SendWaiter? RemoveAll(SendStatus outcome)
    {
        SendWaiter? all = null;
        RemoveAll(AnyRoute, outcome, ref all);
        foreach (BlockedRoute route in All)
        {
            RemoveAll(route, outcome, ref all);
        }

        _routes.Clear();
        return all;
    }

    private static void RemoveAll(BlockedRoute route, SendStatus outcome, ref SendWaiter? all)
    {
        while (route.Waiters.First is { } waiter)
        {
            route.Waiters.Remove(waiter);
            waiter.Route = null;
            waiter.Outcome = outcome;
            waiter.Next = all;
            all = waiter;
        }
    }

    private sealed class ByTarget : IEqualityComparer<BlockedRoute>, IAlternateEqualityComparer<SendTarget, BlockedRoute>
    {
        public static readonly ByTarget Instance = new();

        public bool Equals(BlockedRoute? x, BlockedRoute? y) => ReferenceEquals(x, y);

        public bool Equals(SendTarget alternate, BlockedRoute other) => other.Waiters.First!.Target is var target
            && ReferenceEquals(alternate.Connection, target.Connection) && alternate.RouteId.SequenceEqual(target.RouteId);

        public int GetHashCode(BlockedRoute obj) => GetHashCode(obj.Waiters.First!.Target);

        public int GetHashCode(SendTarget alternate) => alternate.Connection is { } connection ? RuntimeHelpers.GetHashCode(connection)
            : RoutingIdComparer.Instance.GetHashCode(alternate.RouteId);

        public BlockedRoute Create(SendTarget alternate) =>
            throw new NotSupportedException("A route's queue is created together with its first waiter.");
    }
}
