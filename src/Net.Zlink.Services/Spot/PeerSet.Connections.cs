using Net.Zlink.Monitoring;

namespace Net.Zlink.Services;

/// <summary>What happens to connections, and what is due. All of it under the lock.</summary>
internal sealed partial class PeerSet
{
    // Ids that are warned of; beyond it nothing more is said.
    private const int MaxWarned = 100;

    private readonly HashSet<RoutingId> _warned = [];

    private void ReadEvents()
    {
        while (_events.TryRead(out SocketEvent socketEvent))
        {
            if (!_byShown.TryGetValue(socketEvent.RemoteAddress, out SpotPeer? peer) || !peer.IsOpen)
            {
                continue; // Of an endpoint that was closed meanwhile.
            }

            if (socketEvent.Type == SocketEventTypes.ConnectionReady)
            {
                OnReady(peer, socketEvent.RoutingId);
            }
            else
            {
                OnLost(peer, socketEvent.Detail ?? socketEvent.Type.ToString());
            }
        }

        if (_events.Dropped != _droppedEvents)
        {
            _droppedEvents = _events.Dropped;
            Reconcile();
        }
    }

    /// <summary>Takes the state of all connections from the socket, because events were dropped.</summary>
    private void Reconcile()
    {
        foreach (PeerInfo info in _socket.GetPeers())
        {
            if (_byShown.TryGetValue(info.Endpoint, out SpotPeer? peer) && peer.IsOpen && peer.IsReady != info.IsConnected)
            {
                if (info.IsConnected)
                {
                    OnReady(peer, info.RoutingId);
                }
                else
                {
                    OnLost(peer, info.WhyNotConnected ?? "the connection was lost");
                }
            }
        }
    }

    private void OnReady(SpotPeer peer, RoutingId id)
    {
        if (peer.IsReady)
        {
            OnLost(peer, "the connection was lost");
        }

        if (!_nodes.Join(peer, id))
        {
            _schedule.Remove(peer, this);
            if (!_undrained.Contains(peer))
            {
                Close(peer);
            }

            peer.LostAt = null; // Its node was heard all the time.
            SpotPeer connected = peer.Node!.Ready[0];
            Keep(connected);
            Afterwards(() => SpotLog.PeerIsSpare(_options.Logger, peer.Shown, connected.Shown));
            return;
        }

        _undrained.Remove(peer);
        Volatile.Write(ref _ready, _ready + 1);
        (peer.Stream, peer.Gap, peer.Trouble) = (null, null, null);
        if (peer.IsInproc || !_schedule.OnReady(peer, Now))
        {
            Reschedule(peer);
        }

        if (Gaps.OnReady(peer) is { } gap)
        {
            peer.Gap = (gap, _options.Subscribers());
            Afterwards(() =>
            {
                SpotLog.GapBegan(_options.Logger, gap.Endpoint, gap.From, gap.Until);
                Gaps.Publish(gap);
            });
        }

        if (peer.Node!.Ready.Count > 1 && !id.IsEmpty && _warned.Count < MaxWarned && _warned.Add(peer.Node.Id))
        {
            (SpotPeer other, RoutingId shared) = (peer.Node.Ready[0], peer.Node.Id);
            Afterwards(() => SpotLog.SameRoutingId(_options.Logger, peer.Shown, other.Shown, shared));
        }
    }

    private void OnLost(SpotPeer peer, string why)
    {
        bool wasReady = peer.IsReady;
        if (wasReady)
        {
            Gaps.OnLost(peer);
            Leave(peer);
        }

        peer.Trouble = why;
        if (peer.IsInproc)
        {
            if (!peer.IsNamed)
            {
                Drop(peer);
            }

            return;
        }

        _schedule.OnEnded(peer, Now);
        if (wasReady)
        {
            // What came is received first.
            _undrained.Add(peer);
            _drainLookAt ??= Now + DrainLook;
        }
        else if (!_undrained.Contains(peer))
        {
            CloseForNow(peer);
        }
    }

    /// <summary>Until the schedule dials it again.</summary>
    private void CloseForNow(SpotPeer peer)
    {
        if (peer.IsNamed)
        {
            Close(peer);
        }
        else
        {
            Drop(peer);
        }
    }

    /// <summary>The node's spares take over.</summary>
    private void Leave(SpotPeer peer)
    {
        if (peer.IsReady)
        {
            Volatile.Write(ref _ready, _ready - 1);
        }

        foreach (SpotPeer spare in _nodes.Leave(peer))
        {
            spare.LostAt = peer.LostAt;
            Close(spare); // Of a connection that it still has, nothing is taken.
            Want(spare);
        }

        (peer.Stream, peer.Gap) = (null, null);
    }

    /// <summary>Whose connection it is by which a first message came.</summary>
    private void Bind(PeerStream stream, RoutingId id)
    {
        PeerNode? node = _nodes.Find(id);
        SpotPeer? peer = node is { Ready: [{ Stream: null } only], Spares.Count: 0 } ? only : Search(stream);
        if (peer is null)
        {
            // The connection has ended. A spare's is ended on purpose: all of it came by the other one.
            stream.IsIgnored = node?.Spares.Count > 0;
            return;
        }

        peer.Stream = stream;
        if (peer.Gap is var (gap, subscribers))
        {
            peer.Gap = null;
            stream.Begin(gap, subscribers);
        }
    }

    private SpotPeer? Search(PeerStream stream)
    {
        PeerInfo? info = _socket.GetPeers().FirstOrDefault(info => ReferenceEquals(info.UserState, stream));
        if (info is null || !_byShown.TryGetValue(info.Endpoint, out SpotPeer? peer) || !peer.IsOpen)
        {
            return null;
        }

        if (!peer.IsReady)
        {
            OnReady(peer, info.RoutingId); // Its event was dropped.
        }

        return peer.IsReady ? peer : null;
    }

    /// <summary>Does what is due, and sets the timer for the next time.</summary>
    private void Advance()
    {
        TimeSpan now = Now;
        foreach (SpotPeer peer in _kept.Where(peer => peer.KeptUntil <= now).ToArray())
        {
            Drop(peer);
        }

        if (_drainLookAt <= now)
        {
            LookForDrained(now);
        }

        while (_schedule.TryTake(now, out SpotPeer? peer, out DialStep step))
        {
            if (step == DialStep.Dial)
            {
                Open(peer);
            }
            else if (!_undrained.Contains(peer))
            {
                peer.Trouble = "it did not answer in time, and others wait to be dialled";
                Close(peer);
            }
        }

        TimeSpan? due = Earliest(_schedule.NextDue, _drainLookAt);
        due = Earliest(due, _kept.Count == 0 ? null : _kept.Min(static peer => peer.KeptUntil));
        due = due - now;
        due = Earliest(due, _ready == 0 ? null : PeerGaps.TickInterval);
        due = Earliest(due, _inproc.Count > 0 ? InprocEndpoints.PollInterval : null);
        _timer.ChangeDue(due > MaxDue ? MaxDue : due);
    }

    // What a timer takes is limited to 49 days: too early does no harm.
    private static TimeSpan MaxDue { get; } = TimeSpan.FromDays(1);

    private static TimeSpan? Earliest(TimeSpan? one, TimeSpan? other) => one is null || other < one ? other ?? one : one;

    private void LookForDrained(TimeSpan now)
    {
        HashSet<string> unread =
            [.. _socket.GetPeers().Where(static info => info.Unread.Messages > 0).Select(static info => info.Endpoint)];
        foreach (SpotPeer peer in _undrained.Where(peer => !unread.Contains(peer.Shown)).ToArray())
        {
            _undrained.Remove(peer);
            if (!_schedule.IsDialling(peer))
            {
                CloseForNow(peer);
            }
        }

        _drainLookAt = _undrained.Count == 0 ? null : now + DrainLook;
    }

    private void OnTimer() => Change(() =>
    {
        if (_inproc.Count > 0)
        {
            // Nothing connects them anew when their binder has ended and comes again.
            InprocEndpoints.ConnectMissing(
                _socket, _inproc.Where(static peer => peer is { IsNamed: true, IsSpare: false }).Select(static peer => peer.Endpoint));
        }
    });
}
