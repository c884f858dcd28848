using System.Runtime.CompilerServices;
using Net.Zlink.Buffers;
using Net.Zlink.Engine;
using Net.Zlink.Sockets.Endpoints;
using Net.Zlink.Sockets.Routing;

namespace Net.Zlink.Sockets.Links;

/// <summary>A send that waits for capacity. The thread that makes capacity sends its message.</summary>
internal class SendWaiter : Waiter<SendStatus>
{
    private byte[] _route = [];
    private int _routeLength;
    private PeerSlot? _connection;

    /// <summary>If the send is accepted, donated memory is its queue's, otherwise the sender's.</summary>
    public DeferredMessage Deferred { get; set; }

    internal SendStatus Outcome { get; set; }

    internal Exception? Failure { get; set; }

    internal BlockedRoute? Route { get; set; }

    public SendTarget Target => new(_route.AsSpan(0, _routeLength), _connection);

    public void SetTarget(in SendTarget target)
    {
        _connection = target.Connection;
        _routeLength = target.RouteId.Length;
        if (_route.Length < _routeLength)
        {
            _route = new byte[byte.MaxValue];
        }

        target.RouteId.CopyTo(_route);
    }

    /// <summary>Each with its own outcome, outside of all locks.</summary>
    public static void CompleteAll(SendWaiter? waiter)
    {
        while (waiter is not null)
        {
            var next = (SendWaiter?)waiter.Next;
            waiter.Next = null;
            if (waiter.Failure is { } failure)
            {
                waiter.Fail(failure);
            }
            else
            {
                waiter.Complete(waiter.Outcome);
            }

            waiter = next;
        }
    }

    public void Discard() => Clear();

    protected override void Clear()
    {
        base.Clear();
        Deferred = default;
        Failure = null;
        SetTarget(default);
    }
}

/// <summary>
/// The blocked sends of one socket: the thread that makes capacity for a peer retries that peer's sends. The lock is taken before the
/// socket's and a link's. It is held while a waiting message is routed, so a cancellation comes before or after a send, never during it.
/// Each peer has its own queue: with thousands of slow peers, one common queue cost the shards seconds, and a send to a fast peer 40 us. No
/// capacity is missed: a wait is counted, then passes a full fence, then checks. New capacity is published, then passes a full fence
/// (<see cref="Retry"/>), then checks for waiters.
/// </summary>
internal sealed class BlockedSendQueue(Func<SendWaiter, SendStatus> trySend) : IWaiterList
{
    private readonly Lock _gate = new();
    private readonly BlockedRoutes _routes = new();
    private BlockedRoute? _toRetry;
    private int _count;
    private SendStatus _closed;
    private bool _isRouting;

    public bool IsEmpty => Volatile.Read(ref _count) == 0;

    public bool HasEarlierWaiter(in SendTarget target)
    {
        if (IsEmpty)
        {
            return false;
        }

        lock (_gate)
        {
            return _routes.HasEarlierWaiter(target);
        }
    }

    public SendStatus Enqueue(SendWaiter waiter)
    {
        SendWaiter? done = null;
        DeferredDisposal.Defer();
        try
        {
            lock (_gate)
            {
                try
                {
                    return EnqueueUnderLock(waiter);
                }
                finally
                {
                    done = RetryMarked();
                }
            }
        }
        finally
        {
            DeferredDisposal.DisposeDeferred();
            SendWaiter.CompleteAll(done);
        }
    }

    /// <summary>Retries the sends to a peer and those to any peer. Outside of all other locks.</summary>
    public void Retry(ReadOnlySpan<byte> routeId, PeerSlot? connection) => RetrySome(routeId, connection, all: false);

    public void RetryAll() => RetrySome(null, null, all: true);

    public void Close(SendStatus outcome)
    {
        SendWaiter? released;
        lock (_gate)
        {
            _closed = outcome;
            released = _routes.RemoveAll(outcome);
            Volatile.Write(ref _count, 0);
        }

        SendWaiter.CompleteAll(released);
    }

    public bool TryRemove(WaiterNode waiter)
    {
        lock (_gate)
        {
            return Remove((SendWaiter)waiter);
        }
    }

    private SendStatus EnqueueUnderLock(SendWaiter waiter)
    {
        if (_closed != SendStatus.Accepted)
        {
            return _closed;
        }

        BlockedRoute route = _routes.Add(waiter);
        Volatile.Write(ref _count, _count + 1);
        if (!ReferenceEquals(route.Waiters.First, waiter))
        {
            return SendStatus.Full;
        }

        // From here on capacity is reported to this queue.
        Interlocked.MemoryBarrier();
        SendStatus status = SendStatus.Closed;
        _isRouting = true;
        try
        {
            status = trySend(waiter);
        }
        finally
        {
            _isRouting = false;
            if (status != SendStatus.Full)
            {
                Remove(waiter);
            }
        }

        return status;
    }

    private void RetrySome(ReadOnlySpan<byte> routeId, PeerSlot? connection, bool all)
    {
        Interlocked.MemoryBarrier();
        if (IsEmpty)
        {
            return;
        }

        SendWaiter? done;
        DeferredDisposal.Defer();
        try
        {
            lock (_gate)
            {
                Mark(_routes.AnyRoute);
                if (all)
                {
                    foreach (BlockedRoute route in _routes.All)
                    {
                        Mark(route);
                    }
                }
                else
                {
                    Mark(_routes.Find(new SendTarget(routeId)));
                    Mark(_routes.Find(new SendTarget([], connection)));
                }

                done = RetryMarked();
            }
        }
        finally
        {
            DeferredDisposal.DisposeDeferred();
        }

        SendWaiter.CompleteAll(done);
    }

    private void Mark(BlockedRoute? route)
    {
        if (route is { IsRetryPending: false })
        {
            route.IsRetryPending = true;
            route.NextToRetry = _toRetry;
            _toRetry = route;
        }
    }

    /// <summary>Returns the ended waits, linked, to be completed outside of the lock.</summary>
    private SendWaiter? RetryMarked()
    {
        SendWaiter? done = null;
        if (_isRouting)
        {
            // A send to a socket of this process may make capacity there and report it on this thread. The retry under way continues with
            // the marked routes; a second one must not begin.
            return done;
        }

        SendWaiter? last = null;
        _isRouting = true;
        while (_toRetry is { } route)
        {
            _toRetry = route.NextToRetry;
            route.NextToRetry = null;
            route.IsRetryPending = false;
            while (route.Waiters.First is { } waiter && TrySend(waiter))
            {
                if (last is null)
                {
                    done = waiter;
                }
                else
                {
                    last.Next = waiter;
                }

                last = waiter;
            }
        }

        _isRouting = false;
        return done;
    }

    private bool TrySend(SendWaiter waiter)
    {
        SendStatus status;
        try
        {
            status = trySend(waiter);
        }
        catch (OutOfMemoryException)
        {
            status = SendStatus.NoMemory;
        }
        catch (Exception exception)
        {
            status = SendStatus.Closed;
            waiter.Failure = exception;
        }

        waiter.Outcome = status;
        return status != SendStatus.Full && Remove(waiter);
    }

    private bool Remove(SendWaiter waiter)
    {
        if (!_routes.Remove(waiter))
        {
            return false;
        }

        Volatile.Write(ref _count, _count - 1);
        return true;
    }
}

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

/// <summary>Whom a send is for: a connection, else the peer with a routing id, else any peer.</summary>
internal readonly ref struct SendTarget(ReadOnlySpan<byte> routeId, PeerSlot? connection = null)
{
    public ReadOnlySpan<byte> RouteId { get; } = connection is null ? routeId : [];

    public PeerSlot? Connection => connection;

    public bool IsAny => Connection is null && RouteId.IsEmpty;
}
