using Net.Zlink.Engine;
using Net.Zlink.Sockets.Endpoints;

namespace Net.Zlink.Sockets.Links;

/// <summary>Sender: accepted = written + dropped + queued. Receiver: received = delivered + dropped + filtered + queued.</summary>
internal sealed class SocketCounters : ConnectionCounters
{
    private readonly Lock _gate = new();
    private readonly List<UndeliveredLink> _undelivered = [];

    private const int MaxReportedPeers = 1000;

    private readonly HashSet<LaneOwner> _open = [];

    // Links of disconnected peers with unread messages still count. They are checked when their number has doubled, so thousands of them
    // cost one or two checks each.
    private readonly List<LaneOwner> _unread = [];
    private int _nextFinalization;

    private OutboundCounts _outbound;
    private LaneCounts _inbound;

    public long DroppedAtHighWaterMark;

    public long DroppedAtByteLimit;

    public long DroppedAtContextLimit;

    public long DroppedUnroutable;

    public long Unmatched;

    public long Closed;

    public long HandlerFaults;

    public IReadOnlyList<UndeliveredLink> Undelivered
    {
        get
        {
            List<UndeliveredLink> all;
            LaneOwner[] open;
            lock (_gate)
            {
                all = [.. _undelivered];
                open = [.. _open];
            }

            // Those that a blocked shard keeps open.
            foreach (LaneOwner link in open)
            {
                OutboundCounts counts = link.Outbound;
                long messages = counts.QueuedMessages - counts.QueuedUpdates;
                if (messages > 0 && all.Count < MaxReportedPeers)
                {
                    all.Add(link.Undelivered(messages, counts.QueuedBytes - counts.QueuedUpdateBytes));
                }
            }

            return all;
        }
    }

    public int OpenCount
    {
        get
        {
            lock (_gate)
            {
                return _open.Count;
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

    public bool TryFinalize(LaneOwner link, out OutboundCounts outbound)
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
            Sum(ref _outbound, outbound);
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

    public (OutboundCounts Outbound, LaneCounts Inbound) Sum()
    {
        OutboundCounts outbound = default;
        LaneCounts inbound = default;
        AddTo(ref outbound, ref inbound);
        return (outbound, inbound);
    }

    public void AddTo(ref OutboundCounts outbound, ref LaneCounts inbound)
    {
        PooledCopy<LaneOwner> unread;
        PooledCopy<LaneOwner> open;
        lock (_gate)
        {
            Sum(ref outbound, _outbound);
            Sum(ref inbound, _inbound);
            unread = new PooledCopy<LaneOwner>(_unread);
            open = new PooledCopy<LaneOwner>(_open);
        }

        // Outside of the lock, because new links wait for it under the socket's lock: two locks a peer, 1 ms for 10,000.
        bool isAnyRead = false;
        using (unread)
        {
            foreach (LaneOwner link in unread.Items)
            {
                LaneCounts counts = link.Inbound;
                Sum(ref inbound, counts);
                isAnyRead |= counts.QueuedMessages == 0;
            }
        }

        using (open)
        {
            foreach (LaneOwner link in open.Items)
            {
                Sum(ref outbound, link.Outbound);
                Sum(ref inbound, link.Inbound);
            }
        }

        if (isAnyRead)
        {
            lock (_gate)
            {
                RecordUnread();
            }
        }
    }

    private void RecordUnread()
    {
        _unread.RemoveAll(link =>
        {
            LaneCounts counts = link.Inbound;
            if (counts.QueuedMessages > 0)
            {
                return false;
            }

            Sum(ref _inbound, counts);
            return true;
        });
        _nextFinalization = 2 * _unread.Count;
    }

    public static void Sum(ref OutboundCounts sum, in OutboundCounts one)
    {
        sum.AcceptedMessages += one.AcceptedMessages;
        sum.AcceptedBytes += one.AcceptedBytes;
        sum.QueuedMessages += one.QueuedMessages;
        sum.QueuedBytes += one.QueuedBytes;
        sum.WrittenMessages += one.WrittenMessages;
        sum.WrittenBytes += one.WrittenBytes;
        sum.DroppedMessages += one.DroppedMessages;
        sum.DroppedBytes += one.DroppedBytes;
        sum.UnconfirmedMessages += one.UnconfirmedMessages;
        sum.AddUpdate(one.QueuedUpdates, one.QueuedUpdateBytes);
        sum.Excuse(one.ObsoleteMessages, one.ObsoleteBytes);
    }

    public static void Sum(ref LaneCounts sum, in LaneCounts one)
    {
        sum.Received += one.Received;
        sum.ReceivedBytes += one.ReceivedBytes;
        sum.Delivered += one.Delivered;
        sum.Dropped += one.Dropped;
        sum.DroppedBytes += one.DroppedBytes;
        sum.Filtered += one.Filtered;
        sum.QueuedMessages += one.QueuedMessages;
        sum.QueuedBytes += one.QueuedBytes;
    }
}
