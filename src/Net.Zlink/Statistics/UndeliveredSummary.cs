using Net.Zlink.Engine;
using Net.Zlink.Sockets.Links;

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

    /// <summary>
    /// <paramref name="isOver"/>: if not, a blocked shard keeps connections open, and their queued messages are not written.
    /// </summary>
    public void Add(SocketCounters counters, bool isOver)
    {
        (QueueCounts outbound, _) = counters.Sum();
        lock (_gate)
        {
            _messages += outbound.MissedMessages + (isOver ? 0 : outbound.QueuedMessages - outbound.QueuedUpdates);
            _bytes += outbound.MissedBytes + (isOver ? 0 : outbound.QueuedBytes - outbound.QueuedUpdateBytes);
            _unconfirmed += outbound.UnconfirmedMessages;
            foreach (UndeliveredLink link in counters.Undelivered)
            {
                if (_peers.Count < MaxPeers)
                {
                    _peers.Add(new UndeliveredPeer
                    {
                        PeerId = link.PeerId,
                        Endpoint = link.Endpoint.ToString(),
                        RemoteAddress = link.Remote,
                        Messages = link.Messages,
                        Bytes = link.Bytes,
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
