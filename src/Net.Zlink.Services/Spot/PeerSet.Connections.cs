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
        bool areMissing = false;
        while (_events.TryRead(out SocketEvent socketEvent))
        {
            areMissing |= socketEvent.Type == SocketEventTypes.EventsDropped;
            if (!_byRedacted.TryGetValue(socketEvent.RemoteAddress, out SpotPeer? peer) || !peer.IsOpen)
            {
                continue; // Of an endpoint that was closed meanwhile, or of none.
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

        if (areMissing)
        {
            Reconcile();
        }
    }

    /// <summary>Takes the state of all connections from the socket, because events were dropped.</summary>
    private void Reconcile()
    {
        foreach (PeerInfo info in _socket.GetPeers())
        {
            if (_byRedacted.TryGetValue(info.Endpoint, out SpotPeer? peer) && peer.IsOpen && peer.IsReady != info.IsConnected)
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
            RunAfterLock(() => SpotLog.PeerIsAlternate(_options.Logger, peer.Redacted, connected.Redacted));
            return;
        }

        _undrained.Remove(peer);
        Volatile.Write(ref _ready, _ready + 1);
        (peer.Stream, peer.Gap, peer.Problem) = (null, null, null);
        if (peer.IsInproc || !_schedule.OnReady(peer, Now))
        {
            Reschedule(peer);
        }

        if (Gaps.OnReady(peer) is { } gap)
        {
            peer.Gap = (gap, _options.Subscribers());
            RunAfterLock(() =>
            {
                SpotLog.GapBegan(_options.Logger, gap.Endpoint, gap.From, gap.Until);
                Gaps.Publish(gap);
            });
        }

        if (peer.Node!.Ready.Count > 1 && !id.IsEmpty && _warned.Count < MaxWarned && _warned.Add(peer.Node.Id))
        {
            (SpotPeer other, RoutingId shared) = (peer.Node.Ready[0], peer.Node.Id);
            RunAfterLock(() => SpotLog.SameRoutingId(_options.Logger, peer.Redacted, other.Redacted, shared));
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

        peer.Problem = why;
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
            _nextDrainCheck ??= Now + DrainPollInterval;
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

    /// <summary>The node's alternates take over.</summary>
    private void Leave(SpotPeer peer)
    {
        if (peer.IsReady)
        {
            Volatile.Write(ref _ready, _ready - 1);
        }

        foreach (SpotPeer alternate in _nodes.Leave(peer))
        {
            alternate.LostAt = peer.LostAt;
            Close(alternate); // Of a connection that it still has, nothing is taken.
            Want(alternate);
        }

        (peer.Stream, peer.Gap) = (null, null);
    }

    /// <summary>Whose connection it is by which a first message came.</summary>
    private void Bind(PeerStream stream, RoutingId id)
    {
        PeerNode? node = _nodes.Find(id);
        SpotPeer? peer = node is { Ready: [{ Stream: null } only], Alternates.Count: 0 } ? only : Search(stream);
        if (peer is null)
        {
            // The connection has ended. An alternate's is ended on purpose: all of it came by the other one.
            stream.IsIgnored = node?.Alternates.Count > 0;
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
        if (info is null || !_byRedacted.TryGetValue(info.Endpoint, out SpotPeer? peer) || !peer.IsOpen)
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

        if (_nextDrainCheck <= now)
        {
            CheckDrained(now);
        }

        while (_schedule.TryTake(now, out SpotPeer? peer, out DialStep step))
        {
            if (step == DialStep.Dial)
            {
                Open(peer);
            }
            else if (!_undrained.Contains(peer))
            {
                peer.Problem = "the node did not answer in time, and others wait to be dialled";
                Close(peer);
            }
        }

        TimeSpan? due = Earliest(_schedule.NextDue, _nextDrainCheck);
        due = Earliest(due, _kept.Count == 0 ? null : _kept.Min(static peer => peer.KeptUntil));
        due = due - now;
        due = Earliest(due, _ready == 0 ? null : PeerGaps.TickInterval);
        due = Earliest(due, _inproc.Count > 0 ? InprocEndpoints.PollInterval : null);
        _timer.ChangeDue(due > MaxDue ? MaxDue : due);
    }

    // What a timer takes is limited to 49 days: too early does no harm.
    private static TimeSpan MaxDue { get; } = TimeSpan.FromDays(1);

    private static TimeSpan? Earliest(TimeSpan? one, TimeSpan? other) => one is null || other < one ? other ?? one : one;

    private void CheckDrained(TimeSpan now)
    {
        HashSet<string> unread =
            [.. _socket.GetPeers().Where(static info => info.Unread.Messages > 0).Select(static info => info.Endpoint)];
        foreach (SpotPeer peer in _undrained.Where(peer => !unread.Contains(peer.Redacted.ToString())).ToArray())
        {
            _undrained.Remove(peer);
            if (!_schedule.IsDialling(peer))
            {
                CloseForNow(peer);
            }
        }

        _nextDrainCheck = _undrained.Count == 0 ? null : now + DrainPollInterval;
    }

    private void OnTimer() => Change(() =>
    {
        if (_inproc.Count > 0)
        {
            // Nothing connects them anew when their binder has ended and comes again.
            InprocEndpoints.ConnectMissing(
                _socket, _inproc.Where(static peer => peer is { IsNamed: true, IsAlternate: false }).Select(static peer => peer.Endpoint));
        }
    });
}
