using Net.Zlink.Buffers;
using Net.Zlink.Engine;

namespace Net.Zlink.Sockets;

/// <summary>A send that waits at its socket, until some peer has room for it.</summary>
internal class RoutedSendWaiter : SendWaiter
{
    private byte[] _route = [];
    private int _routeLength = -1;

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
    }
}

/// <summary>The line of sends that wait at one socket: whoever makes room moves it on. Nobody overtakes one who waits for the same peer.</summary>
/// <remarks>The lock is taken before the socket's and a pipe's, never after them. It is held while a waiting message is routed, so a cancellation either comes before or too late, never in between.</remarks>
internal sealed class SendLine(SocketCore socket) : IWaiterList
{
    private readonly Lock _gate = new();
    private WaiterList<RoutedSendWaiter> _waiters;
    private readonly HashSet<RoutedSendWaiter> _heldUp = new(RouteComparer.Instance);
    private int _count;
    private SendStatus _closed;
    private bool _isRouting;
    private bool _isToMoveAgain;

    /// <summary>Nobody waits.</summary>
    public bool IsEmpty => Volatile.Read(ref _count) == 0;

    /// <summary>Somebody waits who must not be overtaken by a message to that peer.</summary>
    public bool IsInFrontOf(ReadOnlySpan<byte> routeId)
    {
        if (IsEmpty)
        {
            return false;
        }

        lock (_gate)
        {
            for (var waiter = _waiters.First; waiter is not null; waiter = (RoutedSendWaiter?)waiter.Next)
            {
                if (!waiter.HasRoute || routeId.SequenceEqual(waiter.RouteId))
                {
                    return true;
                }
            }

            return false;
        }
    }

    /// <summary>Lets the waiter, which was refused a moment ago, stand in line, or sends its message if there is room now.</summary>
    /// <returns>Full: it stands in line. Else the outcome: the waiter was not used.</returns>
    public SendStatus Wait(RoutedSendWaiter waiter)
    {
        SendStatus status;
        bool again;
        HandedOver.Keep();
        try
        {
            lock (_gate)
            {
                status = WaitUnderLock(waiter, out again);
            }
        }
        finally
        {
            HandedOver.LetGo();
        }

        if (again)
        {
            Move();
        }

        return status;
    }

    /// <summary>Some pipe has room: sends what can be sent. Outside of all other locks.</summary>
    public void Move()
    {
        if (IsEmpty)
        {
            return;
        }

        RoutedSendWaiter? done = null;
        HandedOver.Keep();
        try
        {
            lock (_gate)
            {
                if (_isRouting)
                {
                    // A message that goes to a socket of this process may make room there at once, and that room is told on this very thread: the send under way must not be begun a second time.
                    _isToMoveAgain = true;
                }
                else
                {
                    RoutedSendWaiter? last = null;
                    _isRouting = true;
                    do
                    {
                        _isToMoveAgain = false;
                        MoveOnce(ref done, ref last);
                    }
                    while (_isToMoveAgain);

                    _isRouting = false;
                }
            }
        }
        finally
        {
            HandedOver.LetGo();
        }

        RoutedSendWaiter.CompleteEach(done);
    }

    private SendStatus WaitUnderLock(RoutedSendWaiter waiter, out bool again)
    {
        again = false;
        if (_closed != SendStatus.Accepted)
        {
            return _closed;
        }

        _waiters.Add(waiter);
        Volatile.Write(ref _count, _count + 1);

        // From here on room is reported to the line; room that came just before is found now.
        SendStatus status = SendStatus.Full;
        bool stays = false;
        _isRouting = true;
        try
        {
            status = IsFirstOfItsKind(waiter) ? socket.Route(waiter.RouteId, waiter.Held.AsOutgoing()) : SendStatus.Full;
            stays = status == SendStatus.Full;
        }
        finally
        {
            if (!stays)
            {
                Remove(waiter);
            }

            _isRouting = false;
            again = _isToMoveAgain;
            _isToMoveAgain = false;
        }

        return status;
    }

    private void MoveOnce(ref RoutedSendWaiter? done, ref RoutedSendWaiter? last)
    {
        // Whoever is refused holds up those behind him who wait for the same peer, and nobody else.
        _heldUp.Clear();
        RoutedSendWaiter? next;
        for (RoutedSendWaiter? waiter = _waiters.First; waiter is not null; waiter = next)
        {
            next = (RoutedSendWaiter?)waiter.Next;
            if (waiter.HasRoute && _heldUp.Contains(waiter))
            {
                continue;
            }

            if (!TrySend(waiter, out SendStatus status))
            {
                if (!waiter.HasRoute)
                {
                    break; // What the socket's choice could not take, it cannot take from the next one either.
                }

                _heldUp.Add(waiter);
                continue;
            }

            waiter.Outcome = status;
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

    /// <summary>Ends every wait, and later ones, with an outcome.</summary>
    public void Close(SendStatus outcome)
    {
        SendWaiter? released = null;
        lock (_gate)
        {
            _closed = outcome;
            while (_waiters.First is { } waiter)
            {
                Remove(waiter);
                waiter.Next = released;
                released = waiter;
            }
        }

        SendWaiter.CompleteAll(released, outcome);
    }

    public bool TryTakeOut(WaiterNode waiter)
    {
        lock (_gate)
        {
            return Remove(waiter);
        }
    }

    private bool TrySend(RoutedSendWaiter waiter, out SendStatus status)
    {
        try
        {
            status = socket.Route(waiter.RouteId, waiter.Held.AsOutgoing());
        }
        catch (Exception exception)
        {
            status = SendStatus.Closed;
            waiter.Failure = exception; // Its memory was disposed while it waited: that one send's fault, nobody else's.
        }

        return status != SendStatus.Full && Remove(waiter);
    }

    private bool IsFirstOfItsKind(RoutedSendWaiter waiter)
    {
        if (!waiter.HasRoute)
        {
            return ReferenceEquals(_waiters.First, waiter);
        }

        for (var earlier = _waiters.First; earlier is not null && !ReferenceEquals(earlier, waiter); earlier = (RoutedSendWaiter?)earlier.Next)
        {
            if (waiter.RouteId.SequenceEqual(earlier.RouteId))
            {
                return false;
            }
        }

        return true;
    }

    private bool Remove(WaiterNode waiter)
    {
        if (!_waiters.Remove(waiter))
        {
            return false;
        }

        Volatile.Write(ref _count, _count - 1);
        return true;
    }

    /// <summary>Takes waiters for the same peer for equal.</summary>
    private sealed class RouteComparer : IEqualityComparer<RoutedSendWaiter>
    {
        public static readonly RouteComparer Instance = new();

        public bool Equals(RoutedSendWaiter? x, RoutedSendWaiter? y) => ReferenceEquals(x, y) || (x is not null && y is not null && x.RouteId.SequenceEqual(y.RouteId));

        public int GetHashCode(RoutedSendWaiter obj) => Routing.RoutingIdComparer.Instance.GetHashCode(obj.RouteId);
    }
}
