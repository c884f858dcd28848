using Net.Zlink.Engine;
using Net.Zlink.Sockets;

namespace Net.Zlink;

/// <summary>
/// What a context's sockets could not deliver, added when they end, so a shutdown report includes sockets that were disposed long before.
/// </summary>
internal sealed class UndeliveredSummary
{
    // Enough to find the cause; the sums include every peer.
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
            // With queued messages of a connection that a blocked shard keeps open.
            _messages += sum.AcceptedMessages - sum.WrittenMessages;
            _bytes += sum.AcceptedBytes - sum.WrittenBytes;
            foreach (UndeliveredLink link in hub.Links.Undelivered)
            {
                if (_peers.Count < MaxPeers)
                {
                    _peers.Add(new UndeliveredPeer
                    {
                        PeerId = link.Id,
                        Endpoint = link.Endpoint.ToString(),
                        RemoteAddress = link.Remote,
                        Messages = link.Messages,
                        Bytes = link.Bytes,
                    });
                }
            }
        }
    }

    public void Add(SocketCore core)
    {
        (OutboundCounts outbound, _) = core.Counters.Sum();
        // If not, a blocked shard keeps connections open, and their queued messages are not written.
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
                    _peers.Add(new UndeliveredPeer
                    {
                        Endpoint = pipe.Endpoint.ToString(),
                        RemoteAddress = pipe.Remote,
                        Messages = pipe.Messages,
                        Bytes = pipe.Bytes,
                    });
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
