using Net.Zlink.Engine;
using Net.Zlink.Sockets.Links;

namespace Net.Zlink.Sockets;

/// <summary>What a ZMP socket counts: events as they happen, and the books of pipes that are gone. Those of the others, be it that they
/// only deliver what is left, are added on demand.</summary>
/// <remarks>Sender: accepted = written + dropped + queued. Receiver: received = delivered + dropped + filtered + queued. In messages, per
/// pipe and so in sum.</remarks>
internal sealed class SocketCounters
{
    private readonly Lock _gate = new();
    private readonly List<UndeliveredLinkCounts> _undelivered = [];

    // How many peers a shutdown report names one by one; the sums count all of them.
    private const int MaxReportedPeers = 1000;

    private readonly HashSet<PeerLink> _open = [];

    // Peers that are gone and whose messages are not all read yet: their lanes go on counting. Looked through when there are twice as many
    // as were left the last time, so thousands that go while nobody reads cost a look or two each, and at most half of those that are kept
    // are read to their end.
    private readonly List<InboundLane> _unread = [];
    private int _nextFinalization;

    private OutboundCounts _outbound;
    private LaneCounts _inbound;

    public long Accepted;
    public long Dialled;
    public long Refused;
    public long AcceptErrors;

    /// <summary>Messages that a publisher or a ROUTER dropped because the peer was at its high-water mark.</summary>
    public long DroppedAtHighWaterMark;

    /// <summary>The same, because so many bytes waited for the peer.</summary>
    public long DroppedAtByteLimit;

    /// <summary>The same, because so many bytes waited in the whole context.</summary>
    public long DroppedAtContextLimit;

    /// <summary>Messages that a ROUTER dropped because there was no such peer.</summary>
    public long DroppedUnroutable;

    /// <summary>Messages that no subscription matched, and those sent with no peer to send to.</summary>
    public long Unmatched;

    public FailedHandshakes FailedHandshakes { get; } = new();

    /// <summary>Messages of one peer that were accepted but not written.</summary>
    public IReadOnlyList<UndeliveredLinkCounts> Undelivered
    {
        get
        {
            lock (_gate)
            {
                return [.. _undelivered];
            }
        }
    }

    /// <summary>Pipes whose messages are counted.</summary>
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

    /// <summary>Counts a pipe's messages from now on.</summary>
    public void Open(PeerLink link)
    {
        lock (_gate)
        {
            _open.Add(link);
        }
    }

    /// <summary>A pipe was turned away within the process: its messages are in its sender's books alone.</summary>
    public void Remove(PeerLink link)
    {
        lock (_gate)
        {
            _open.RemoveAndTrim(link);
            link.TryFinalizeCounters();
        }
    }

    /// <summary>Takes over the counts of a pipe that is gone.</summary>
    /// <param name="link">The pipe; it takes and gives nothing any more.</param>
    /// <param name="outbound">What it sent.</param>
    /// <returns>False if that was done before.</returns>
    public bool TryFinalize(PeerLink link, out OutboundCounts outbound)
    {
        outbound = link.Outbound;
        lock (_gate)
        {
            _open.RemoveAndTrim(link);
            if (!link.TryFinalizeCounters())
            {
                return false;
            }

            Sum(ref _outbound, outbound);
            _unread.Add(link.Lane);
            if (_unread.Count >= _nextFinalization)
            {
                RecordUnread();
            }

            if (outbound.MissedMessages > 0 && _undelivered.Count < MaxReportedPeers)
            {
                _undelivered.Add(new UndeliveredLinkCounts(
                    link.Endpoint, link.Peer.RemoteAddress, outbound.MissedMessages, outbound.MissedBytes));
            }
        }

        return true;
    }

    /// <summary>The sums of all pipes, gone and living.</summary>
    public (OutboundCounts Outbound, LaneCounts Inbound) Sum()
    {
        OutboundCounts outbound = default;
        LaneCounts inbound = default;
        AddTo(ref outbound, ref inbound);
        return (outbound, inbound);
    }

    /// <summary>Adds the sums of all pipes, gone and living.</summary>
    public void AddTo(ref OutboundCounts outbound, ref LaneCounts inbound)
    {
        PooledCopy<InboundLane> unread;
        PooledCopy<PeerLink> open;
        lock (_gate)
        {
            Sum(ref outbound, _outbound);
            Sum(ref inbound, _inbound);
            unread = new PooledCopy<InboundLane>(_unread);
            open = new PooledCopy<PeerLink>(_open);
        }

        // Outside of the lock, for which a newcomer waits under the socket's: two locks a peer, 1 ms for 10,000. What goes meanwhile counts
        // on in its own books.
        bool isAnyRead = false;
        using (unread)
        {
            foreach (InboundLane lane in unread.Items)
            {
                LaneCounts counts = lane.Counts;
                Sum(ref inbound, counts);
                isAnyRead |= counts.QueuedMessages == 0;
            }
        }

        using (open)
        {
            foreach (PeerLink link in open.Items)
            {
                Sum(ref outbound, link.Outbound);
                Sum(ref inbound, link.Lane.Counts);
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

    /// <summary>Closes the books of lanes that are read to their end.</summary>
    private void RecordUnread()
    {
        _unread.RemoveAll(lane =>
        {
            LaneCounts counts = lane.Counts;
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

/// <summary>Messages of one pipe that were accepted but not written.</summary>
internal readonly record struct UndeliveredLinkCounts(string Endpoint, string Remote, long Messages, long Bytes);
