using Net.Zlink.Engine;
using Net.Zlink.Sockets;

namespace Net.Zlink;

/// <summary>What a context's sockets could not deliver, added up as they end, so that a shutdown report also covers sockets disposed long
/// before.</summary>
internal sealed class UndeliveredSummary
{
    // Enough to find the cause by; the sums count every peer.
    private const int MaxPeers = 1000;

    private readonly Lock _gate = new();
    private readonly List<UndeliveredPeer> _peers = [];
    private long _messages;
    private long _bytes;
    private long _unconfirmed;

    public void Add(StreamHub hub)
    {
        StreamCounters sum = hub.Sum();
        lock (_gate)
        {
            _messages += sum.AcceptedMessages - sum.WrittenMessages; // What still waits, too: of a connection that a held shard keeps open.
            _bytes += sum.AcceptedBytes - sum.WrittenBytes;
            foreach (UndeliveredLink link in hub.Links.Undelivered)
            {
                if (_peers.Count < MaxPeers)
                {
                    _peers.Add(new UndeliveredPeer(link.Id, link.Endpoint, link.Remote, link.Messages, link.Bytes));
                }
            }
        }
    }

    public void Add(SocketCore core)
    {
        (OutboundCounts outbound, _) = core.Counters.Sum();
        // If not, a held shard keeps connections open: what they have taken in is not written any more.
        bool isOver = core.AllClosed.IsCompleted;
        lock (_gate)
        {
            _messages += outbound.MissedMessages + (isOver ? 0 : outbound.QueuedMessages - outbound.QueuedUpdates);
            _bytes += outbound.MissedBytes + (isOver ? 0 : outbound.QueuedBytes - outbound.QueuedUpdateBytes);
            _unconfirmed += outbound.UnconfirmedMessages;
            foreach (UndeliveredLinkCounts pipe in core.Counters.Undelivered)
            {
                if (_peers.Count < MaxPeers)
                {
                    _peers.Add(new UndeliveredPeer(0, pipe.Endpoint, pipe.Remote, pipe.Messages, pipe.Bytes));
                }
            }
        }
    }

    public ShutdownReport Report(bool drained, TimeSpan elapsed, IReadOnlyList<int> heldShards)
    {
        lock (_gate)
        {
            return new ShutdownReport
            {
                Drained = drained,
                UndeliveredMessages = _messages,
                UndeliveredBytes = _bytes,
                UnconfirmedMessages = _unconfirmed,
                Peers = [.. _peers],
                Elapsed = elapsed,
                BlockedShards = heldShards
            };
        }
    }
}
