using Net.Zlink.Buffers;
using Net.Zlink.Engine;
using Net.Zlink.Sockets.Links;

namespace Net.Zlink.Sockets;

internal class RoutedSendWaiter : SendWaiter
{
    private byte[] _route = [];
    private int _routeLength = -1;

    internal BlockedRoute? Route { get; set; }

    public PeerSlot? Connection { get; set; }

    public bool HasRoute => _routeLength >= 0;

    public ReadOnlySpan<byte> RouteId => _route.AsSpan(0, Math.Max(0, _routeLength));

    public void SetRoute(ReadOnlySpan<byte> routeId)
    {
        if (routeId.IsEmpty)
        {
            _routeLength = -1;
            return;
        }

        if (_route.Length < routeId.Length)
        {
            _route = new byte[byte.MaxValue];
        }

        routeId.CopyTo(_route);
        _routeLength = routeId.Length;
    }

    protected override void Clear()
    {
        base.Clear();
        _routeLength = -1;
        Connection = null;
    }
}

/// <summary>
/// The blocked sends of one socket: the thread that makes capacity for a peer retries that peer's sends. The lock is taken before the
/// socket's and a link's. It is held while a waiting message is routed, so a cancellation comes before or after a send, never during it.
/// Each peer has its own queue: with thousands of slow peers, one common queue cost the shards seconds, and a send to a fast peer 40 us. No
/// capacity is missed: a wait is counted, then passes a full fence, then checks. New capacity is published, then passes a full fence
/// (<see cref="Retry"/>), then checks for waiters.
/// </summary>
internal sealed class BlockedSendQueue(SocketCore socket) : IWaiterList
{
    private readonly Lock _gate = new();
    private readonly BlockedRoutes _routes = new();
    private BlockedRoute? _toRetry;
    private int _count;
    private SendStatus _closed;
    private bool _isRouting;

    public bool IsEmpty => Volatile.Read(ref _count) == 0;

    public bool HasEarlierWaiter(ReadOnlySpan<byte> routeId)
    {
        if (IsEmpty)
        {
            return false;
        }

        lock (_gate)
        {
            return !_routes.AnyRoute.Waiters.IsEmpty || _routes.Find(routeId) is not null;
        }
    }

    public bool HasEarlierWaiter(PeerSlot connection)
    {
        if (IsEmpty)
        {
            return false;
        }

        lock (_gate)
        {
            return _routes.Find(connection) is not null;
        }
    }

    public SendStatus Enqueue(RoutedSendWaiter waiter)
    {
        RoutedSendWaiter? done = null;
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
            RoutedSendWaiter.CompleteEach(done);
        }
    }

    /// <summary>Retries the sends to a peer and those to any peer. Outside of all other locks.</summary>
    public void Retry(byte[]? routeId, PeerSlot? connection)
    {
        Interlocked.MemoryBarrier();
        if (!IsEmpty)
        {
            RetrySome(routeId, connection, all: false);
        }
    }

    public void RetryAll()
    {
        Interlocked.MemoryBarrier();
        if (!IsEmpty)
        {
            RetrySome(null, null, all: true);
        }
    }

    public void Close(SendStatus outcome)
    {
        RoutedSendWaiter? released;
        lock (_gate)
        {
            _closed = outcome;
            released = _routes.RemoveAll();
            Volatile.Write(ref _count, 0);
        }

        SendWaiter.CompleteAll(released, outcome);
    }

    public bool TryRemove(WaiterNode waiter)
    {
        lock (_gate)
        {
            return Remove((RoutedSendWaiter)waiter);
        }
    }

    private SendStatus EnqueueUnderLock(RoutedSendWaiter waiter)
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
            status = Route(waiter);
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
        RoutedSendWaiter? done;
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
                    if (_routes.Find(routeId) is { } ofPeer)
                    {
                        Mark(ofPeer);
                    }

                    if (connection is not null && _routes.Find(connection) is { } ofConnection)
                    {
                        Mark(ofConnection);
                    }
                }

                done = RetryMarked();
            }
        }
        finally
        {
            DeferredDisposal.DisposeDeferred();
        }

        RoutedSendWaiter.CompleteEach(done);
    }

    private void Mark(BlockedRoute route)
    {
        if (!route.IsRetryPending)
        {
            route.IsRetryPending = true;
            route.NextToRetry = _toRetry;
            _toRetry = route;
        }
    }

    /// <summary>Returns the ended waits, linked, to be completed outside of the lock.</summary>
    private RoutedSendWaiter? RetryMarked()
    {
        RoutedSendWaiter? done = null;
        if (_isRouting)
        {
            // A send to a socket of this process may make capacity there and report it on this thread. The retry under way continues with
            // the marked routes; a second one must not begin.
            return done;
        }

        RoutedSendWaiter? last = null;
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

    private SendStatus Route(RoutedSendWaiter waiter) =>
        waiter.Connection is { } connection ? socket.RouteTo(connection, waiter.Deferred.AsOutgoing())
            : socket.Route(waiter.RouteId, waiter.Deferred.AsOutgoing());

    private bool TrySend(RoutedSendWaiter waiter)
    {
        SendStatus status;
        try
        {
            status = Route(waiter);
        }
        catch (Exception exception)
        {
            status = SendStatus.Closed;
            waiter.Failure = exception;
        }

        waiter.Outcome = status;
        return status != SendStatus.Full && Remove(waiter);
    }

    private bool Remove(RoutedSendWaiter waiter)
    {
        if (!_routes.Remove(waiter))
        {
            return false;
        }

        Volatile.Write(ref _count, _count - 1);
        return true;
    }
}
