using System.Globalization;
using System.Text;
using Net.Zlink.Engine;
using Net.Zlink.Sockets.Links;

namespace Net.Zlink;

/// <summary>The result of a shutdown.</summary>
public sealed class ShutdownReport
{
    internal ShutdownReport()
    {
    }

    /// <summary>
    /// Every connection ended before the deadline. <see cref="UndeliveredMessages"/> tells whether all messages were written.
    /// </summary>
    public bool Drained { get; internal init; }

    /// <summary>Accepted messages that were not written, over the life of the context.</summary>
    public long UndeliveredMessages { get; internal init; }

    /// <summary>Their bytes, with frame headers.</summary>
    public long UndeliveredBytes { get; internal init; }

    /// <summary>Messages that were written and may not have been received, over the life of the context: see <see
    /// cref="SocketStatistics.UnconfirmedMessages"/>.</summary>
    public long UnconfirmedMessages { get; internal init; }

    /// <summary>Their peers, at most 1,000; the sums include all.</summary>
    public IReadOnlyList<UndeliveredPeer> Peers { get; internal init; } = [];

    /// <summary>The duration.</summary>
    public TimeSpan Elapsed { get; internal init; }

    /// <summary>
    /// The shards that did not end, by <see cref="ShardStatistics.Index"/>: a handler, or the thread pool, blocks them. Their connections
    /// stay open and their memory is kept until they continue.
    /// </summary>
    public IReadOnlyList<int> BlockedShards { get; internal init; } = [];

    /// <summary>Describes the result for a log. The format may change.</summary>
    /// <returns>One line, and one for each of the first peers.</returns>
    public override string ToString()
    {
        const int Shown = 10; // What fits on a screen with the rest of a log.
        var text = new StringBuilder();
        text.Append(CultureInfo.InvariantCulture,
            $"shutdown {(Drained ? "done" : "cut short")} in {Elapsed.TotalSeconds:0.0} s, {UndeliveredMessages} messages "
            + $"({UndeliveredBytes} bytes) not delivered");
        if (UnconfirmedMessages > 0)
        {
            text.Append(CultureInfo.InvariantCulture, $", {UnconfirmedMessages} written but not confirmed");
        }

        if (BlockedShards.Count > 0)
        {
            text.Append(CultureInfo.InvariantCulture, $", held shards: {string.Join(", ", BlockedShards)}");
        }

        foreach (UndeliveredPeer peer in Peers.Take(Shown))
        {
            text.Append(CultureInfo.InvariantCulture,
                $"\n  {(peer.RemoteAddress.Length > 0 ? peer.RemoteAddress : peer.Endpoint)}: {peer.Messages} messages ({peer.Bytes} "
                + $"bytes)");
        }

        if (Peers.Count > Shown)
        {
            text.Append(CultureInfo.InvariantCulture, $"\n  and {Peers.Count - Shown} peers more");
        }

        return text.ToString();
    }
}

/// <summary>A peer that did not get all accepted messages.</summary>
public sealed class UndeliveredPeer
{
    internal UndeliveredPeer()
    {
    }

    /// <summary>Its id on a <see cref="StreamSocket"/>. 0 for other types, whose peers have routing ids.</summary>
    public uint PeerId { get; internal init; }

    /// <summary>Its endpoint.</summary>
    public string Endpoint { get; internal init; } = "";

    /// <summary>Its address.</summary>
    public string RemoteAddress { get; internal init; } = "";

    /// <summary>Accepted messages that were not written.</summary>
    public long Messages { get; internal init; }

    /// <summary>Their bytes, with frame headers.</summary>
    public long Bytes { get; internal init; }
}

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
