using Net.Zlink.Buffers;
using Net.Zlink.Engine;
using Net.Zlink.Flow;
using Net.Zlink.Sockets.Links;

namespace Net.Zlink.Sockets;

/// <summary>A send that waits at its socket, until some peer has room for it.</summary>
internal class RoutedSendWaiter : SendWaiter
{
    private byte[] _route = [];
    private int _routeLength = -1;

    /// <summary>Where it stands. Guarded by the line's lock.</summary>
    internal BlockedRoute? Route { get; set; }

    /// <summary>The connection it is for, whatever that peer is called; null: <see cref="RouteId"/> says whom it is for.</summary>
    public PeerSlot? Connection { get; set; }

    /// <summary>It is for one peer, named by <see cref="RouteId"/>; else the socket chooses.</summary>
    public bool HasRoute => _routeLength >= 0;

    /// <summary>The peer it is for; empty where the socket chooses.</summary>
    public ReadOnlySpan<byte> RouteId => _route.AsSpan(0, Math.Max(0, _routeLength));

    /// <summary>Names the peer; copies the id, into memory that is kept for the next wait.</summary>
    public void SetRoute(ReadOnlySpan<byte> routeId)
    {
        if (routeId.IsEmpty)
        {
            _routeLength = -1;
            return;
        }

        if (_route.Length < routeId.Length)
        {
            _route = new byte[byte.MaxValue]; // The longest routing id there is.
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

/// <summary>The sends that wait at one socket: whoever makes room moves on those who wait for it. Nobody overtakes one who waits for the
/// same peer.</summary>
/// <remarks>
/// The lock is taken before the socket's and a pipe's, never after them. It is held while a waiting message is routed, so a cancellation
/// either comes before or too late, never in between.
/// <para>
/// Who waits for a peer stands in that peer's line, and only what happens to that peer moves it: with thousands of slow peers, a look at
/// all who wait for each room that comes cost the shards seconds, and each send to a peer that reads 40 us. So no wait may count on another
/// peer's news. None is missed: a wait is counted first, then passes a full fence, then looks for room; news of a pipe are made first, then
/// pass a full fence (<see cref="Retry"/>), then look whether anybody waits.
/// </para>
/// </remarks>
internal sealed class BlockedSendQueue(SocketCore socket) : IWaiterList
{
    private readonly Lock _gate = new();
    private readonly BlockedRoutes _routes = new();
    private BlockedRoute? _toRetry;
    private int _count;
    private SendStatus _closed;
    private bool _isRouting;

    /// <summary>Nobody waits.</summary>
    public bool IsEmpty => Volatile.Read(ref _count) == 0;

    /// <summary>Somebody waits who must not be overtaken by a message to that peer.</summary>
    public bool HasEarlierWaiter(ReadOnlySpan<byte> routeId)
    {
        if (IsEmpty)
        {
            return false;
        }

        using (_gate.EnterUninterrupted())
        {
            return !_routes.Anyone.Waiters.IsEmpty || _routes.Find(routeId) is not null;
        }
    }

    /// <summary>Somebody waits who must not be overtaken by a message to that connection.</summary>
    public bool HasEarlierWaiter(PeerSlot connection)
    {
        if (IsEmpty)
        {
            return false;
        }

        using (_gate.EnterScope())
        {
            return _routes.Find(connection) is not null;
        }
    }

    /// <summary>Lets the waiter, which was refused a moment ago, stand in line, or sends its message if there is room now.</summary>
    /// <returns>Full: it stands in line. Else the outcome: the waiter was not used.</returns>
    public SendStatus Enqueue(RoutedSendWaiter waiter)
    {
        RoutedSendWaiter? done = null;
        DeferredDisposal.Defer();
        try
        {
            using (_gate.EnterUninterrupted())
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

    /// <summary>A pipe has room, has come or has gone: sends what can be sent now to its peer, and what is sent to whomever the socket
    /// chooses. Outside of all other locks.</summary>
    /// <param name="routeId">By which a ROUTER finds the peer; null: it has no such id.</param>
    /// <param name="connection">Of the peer; null: this concerns no single connection.</param>
    public void Retry(byte[]? routeId, PeerSlot? connection)
    {
        Interlocked.MemoryBarrier();
        if (!IsEmpty)
        {
            RetrySome(routeId, connection, all: false);
        }
    }

    /// <summary>As <see cref="Retry"/>, after a change that concerns every peer.</summary>
    public void RetryAll()
    {
        Interlocked.MemoryBarrier();
        if (!IsEmpty)
        {
            RetrySome(null, null, all: true);
        }
    }

    /// <summary>Ends every wait, and later ones, with an outcome.</summary>
    public void Close(SendStatus outcome)
    {
        RoutedSendWaiter? released;
        using (_gate.EnterUninterrupted())
        {
            _closed = outcome;
            released = _routes.RemoveAll();
            Volatile.Write(ref _count, 0);
        }

        SendWaiter.CompleteAll(released, outcome);
    }

    public bool TryRemove(WaiterNode waiter)
    {
        using (_gate.EnterUninterrupted())
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

        // From here on room is reported to the line; room that came just before is found now.
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
            using (_gate.EnterUninterrupted())
            {
                Mark(_routes.Anyone);
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

    /// <summary>Moves the lines that are marked, and those that come to be meanwhile. Returns whose wait is over, linked, to be completed
    /// outside of the lock.</summary>
    private RoutedSendWaiter? RetryMarked()
    {
        RoutedSendWaiter? done = null;
        if (_isRouting)
        {
            // A message that goes to a socket of this process may make room there at once, and that room is told on this very thread: the
            // send under way must not be begun a second time. Whoever began it goes on with what is marked.
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

    /// <summary>False: it waits on, and with it who stands behind it.</summary>
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
            waiter.Failure = exception; // Its memory was disposed while it waited: that one send's fault, nobody else's.
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
