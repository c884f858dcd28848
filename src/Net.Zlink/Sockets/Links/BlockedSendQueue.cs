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
    // Empty routes are kept, as many as waiters, so that a wait allocates nothing in steady state.
    private const int MaxCached = 64;

    private readonly Lock _gate = new();
    private readonly BlockedRoute _anyRoute = new();
    private readonly HashSet<BlockedRoute> _routes = new(ByTarget.Instance);
    private readonly Stack<BlockedRoute> _cached = [];
    private readonly Stack<BlockedRoute> _toRetry = [];
    private int _count;
    private bool _isClosed;
    private bool _isRouting;

    public bool IsEmpty => Volatile.Read(ref _count) == 0;

    /// <summary>A send to any peer is behind those to a certain one; one to a peer is also behind those to any.</summary>
    public bool HasEarlierWaiter(in SendTarget target)
    {
        if (IsEmpty)
        {
            return false;
        }

        lock (_gate)
        {
            return (target.Connection is null && !_anyRoute.Waiters.IsEmpty) || (!target.IsAny && Find(target) is not null);
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

    public void Close()
    {
        WaiterList<SendWaiter> released = default;
        lock (_gate)
        {
            _isClosed = true;
            foreach (BlockedRoute route in (BlockedRoute[])[_anyRoute, .. _routes])
            {
                while (route.Waiters.First is { } waiter)
                {
                    route.Waiters.Remove(waiter);
                    waiter.Route = null;
                    waiter.Outcome = SendStatus.Closed;
                    released.Add(waiter);
                }
            }

            _routes.Clear();
            Volatile.Write(ref _count, 0);
        }

        SendWaiter.CompleteAll(released.RemoveAll());
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
        if (_isClosed)
        {
            return SendStatus.Closed;
        }

        BlockedRoute? found = Find(waiter.Target);
        BlockedRoute route = found ?? (_cached.Count > 0 ? _cached.Pop() : new BlockedRoute());
        route.Waiters.Add(waiter);
        waiter.Route = route;
        if (found is null)
        {
            _routes.Add(route); // Known by its first waiter.
        }

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
                Mark(_anyRoute);
                if (all)
                {
                    foreach (BlockedRoute route in _routes)
                    {
                        Mark(route);
                    }
                }
                else
                {
                    Mark(Find(new SendTarget(routeId)));
                    Mark(Find(new SendTarget([], connection)));
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
            _toRetry.Push(route);
        }
    }

    /// <summary>Returns the ended waits, linked, to be completed outside of the lock.</summary>
    private SendWaiter? RetryMarked()
    {
        if (_isRouting)
        {
            // A send to a socket of this process may make capacity there and report it on this thread. The retry under way continues with
            // the marked routes; a second one must not begin.
            return null;
        }

        WaiterList<SendWaiter> done = default;
        _isRouting = true;
        while (_toRetry.TryPop(out BlockedRoute? route))
        {
            route.IsRetryPending = false;
            while (route.Waiters.First is { } waiter && TrySend(waiter))
            {
                done.Add(waiter);
            }
        }

        _isRouting = false;
        return done.RemoveAll();
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

    private BlockedRoute? Find(in SendTarget target) => target.IsAny ? _anyRoute
        : _routes.Count > 0 && _routes.GetAlternateLookup<SendTarget>().TryGetValue(target, out BlockedRoute? route) ? route : null;

    private bool Remove(SendWaiter waiter)
    {
        if (waiter.Route is not { } route)
        {
            return false;
        }

        if (!ReferenceEquals(route, _anyRoute) && waiter is { Previous: null, Next: null })
        {
            _routes.RemoveAndTrim(route);
            if (_cached.Count < MaxCached)
            {
                _cached.Push(route);
            }
        }

        waiter.Route = null;
        route.Waiters.Remove(waiter);
        Volatile.Write(ref _count, _count - 1);
        return true;
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

/// <summary>The waiting sends to one target.</summary>
internal sealed class BlockedRoute
{
    public WaiterList<SendWaiter> Waiters;

    public bool IsRetryPending { get; set; }
}

/// <summary>Whom a send is for: a connection, else the peer with a routing id, else any peer.</summary>
internal readonly ref struct SendTarget(ReadOnlySpan<byte> routeId, PeerSlot? connection = null)
{
    public ReadOnlySpan<byte> RouteId { get; } = connection is null ? routeId : [];

    public PeerSlot? Connection => connection;

    public bool IsAny => Connection is null && RouteId.IsEmpty;
}
