using System.Numerics;
using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Sockets.Endpoints;

namespace Net.Zlink.Sockets.Links;

/// <summary>Sender: accepted = written + dropped + queued. Receiver: received = delivered + dropped + filtered + queued.</summary>
internal sealed class SocketCounters : EventCounters
{
    private readonly Lock _gate = new();
    private readonly List<UndeliveredLink> _undelivered = [];

    private const int MaxReportedPeers = 1000;

    private readonly HashSet<LaneOwner> _open = [];

    // Links of disconnected peers with unread messages still count. They are checked when their number has doubled, so thousands of them
    // cost one or two checks each.
    private readonly List<LaneOwner> _unread = [];
    private int _nextFinalization;

    private QueueCounts _outbound;
    private QueueCounts _inbound;

    public IReadOnlyList<UndeliveredLink> Undelivered
    {
        get
        {
            lock (_gate)
            {
                List<UndeliveredLink> all = [.. _undelivered];

                // Those that a blocked shard keeps open.
                foreach (LaneOwner link in _open)
                {
                    QueueCounts counts = link.Outbound;
                    long messages = counts.QueuedMessages - counts.QueuedUpdates;
                    if (messages > 0 && all.Count < MaxReportedPeers)
                    {
                        all.Add(link.Undelivered(messages, counts.QueuedBytes - counts.QueuedUpdateBytes));
                    }
                }

                return all;
            }
        }
    }

    public void Open(LaneOwner link)
    {
        lock (_gate)
        {
            _open.Add(link);
        }
    }

    /// <summary>An inproc link was rejected: its messages count only at its sender.</summary>
    public void Remove(LaneOwner link)
    {
        lock (_gate)
        {
            _open.RemoveAndTrim(link);
            link.TryFinalizeCounters();
        }
    }

    /// <summary>A dialer finalizes its link before the last connection has ended.</summary>
    public void AddUnconfirmed(LaneOwner link, long messages)
    {
        lock (_gate)
        {
            link.Unconfirmed += messages;
            if (link.AreCountersFinal)
            {
                _outbound.UnconfirmedMessages += messages;
            }
        }
    }

    public bool TryFinalize(LaneOwner link, out QueueCounts outbound)
    {
        outbound = link.Outbound;
        lock (_gate)
        {
            _open.RemoveAndTrim(link);
            if (!link.TryFinalizeCounters())
            {
                return false;
            }

            outbound.UnconfirmedMessages = link.Unconfirmed;
            _outbound.Add(outbound);
            _unread.Add(link);
            if (_unread.Count >= _nextFinalization)
            {
                RecordUnread();
            }

            if (outbound.MissedMessages > 0 && _undelivered.Count < MaxReportedPeers)
            {
                _undelivered.Add(link.Undelivered(outbound.MissedMessages, outbound.MissedBytes));
            }
        }

        return true;
    }

    public (QueueCounts Outbound, QueueCounts Inbound) Sum()
    {
        QueueCounts outbound = default;
        QueueCounts inbound = default;
        AddTo(ref outbound, ref inbound);
        return (outbound, inbound);
    }

    public void AddTo(ref QueueCounts outbound, ref QueueCounts inbound)
    {
        // Two locks a peer, 1 ms for 10,000: meanwhile a new peer waits.
        lock (_gate)
        {
            RecordUnread();
            outbound.Add(_outbound);
            inbound.Add(_inbound);
            foreach (LaneOwner link in _unread)
            {
                inbound.Add(link.Inbound);
            }

            foreach (LaneOwner link in _open)
            {
                outbound.Add(link.Outbound);
                inbound.Add(link.Inbound);
            }
        }
    }

    private void RecordUnread()
    {
        if (_unread.Count == 0)
        {
            return;
        }

        _unread.RemoveAll(link =>
        {
            QueueCounts counts = link.Inbound;
            if (counts.QueuedMessages > 0)
            {
                return false;
            }

            _inbound.Add(counts);
            return true;
        });
        _nextFinalization = 2 * _unread.Count;
    }
}

/// <summary>Counts and reports messages that are not sent or not written. Any thread, outside of all locks.</summary>
internal sealed class LossReports(EngineHost host, SocketMonitors monitors, SocketCounters counters)
{
    public void NotWritten(PeerLink link, in QueueCounts dropped)
    {
        (string local, string remote) = link.Ends;
        monitors.Publish(new SocketEvent(
            SocketEventTypes.MessagesDropped, dropped.MissedMessages, link.Peer.RoutingId, local, remote, 0,
                "accepted, but not written when the connection ended")
        {
            PeerRoutingId = link.Peer.RoutingId,
        });
        host.Warnings.Undelivered(PeerIdentity.NameOf(link.Peer.RoutingId), link.Endpoint, dropped.MissedMessages, dropped.MissedBytes);
    }

    public void DroppedForMemory(PeerLink link)
    {
        link.CountDroppedAtMark();
        Dropped(ref counters.DroppedAtContextLimit, link.Peer.RoutingId, link, "no memory for a buffer");
    }

    public void DroppedAtMark(PeerLink link)
    {
        link.CountDroppedAtMark();
        switch (link.FullCause)
        {
            case FullCause.Context:
                Dropped(ref counters.DroppedAtContextLimit, link.Peer.RoutingId, link, "the context is at its QueuedByteLimit");
                break;
            case FullCause.Bytes:
                Dropped(ref counters.DroppedAtByteLimit, link.Peer.RoutingId, link, "the peer is at its byte limit");
                break;
            default:
                Dropped(ref counters.DroppedAtHighWaterMark, link.Peer.RoutingId, link, "the peer is at its high-water mark");
                break;
        }
    }

    public void DroppedUnroutable(ReadOnlySpan<byte> routeId) =>
        Dropped(ref counters.DroppedUnroutable, routeId, link: null, "no peer has that routing id");

    /// <summary>Counts each, and publishes at 1, 2, 4, 8 and so on, so that they do not fill a monitor.</summary>
    private void Dropped(ref long counter, ReadOnlySpan<byte> routingId, PeerLink? link, string why)
    {
        long count = Interlocked.Increment(ref counter);
        if (BitOperations.IsPow2(count) && !monitors.IsEmpty)
        {
            (string local, string remote) = link?.Ends ?? ("", "");
            monitors.Publish(new SocketEvent(SocketEventTypes.MessagesDropped, Math.Max(1, count / 2), default, local, remote, 0,
                $"not sent: {why}; {count} so far for that reason")
            {
                PeerRoutingId = routingId.ToArray(),
            });
        }
    }
}
