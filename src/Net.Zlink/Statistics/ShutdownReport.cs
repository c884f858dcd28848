using System.Globalization;
using System.Text;
using Net.Zlink.Engine;
using Net.Zlink.Sockets.Links;

namespace Net.Zlink;

/// <summary>The result of a shutdown.</summary>
public sealed class ShutdownReport
{
    // Enough to find the cause; the sums include every peer.
    private const int MaxPeers = 1000;

    private readonly List<UndeliveredPeer> _peers = [];

    internal ShutdownReport()
    {
    }

    /// <summary>
    /// Every connection ended before the deadline. <see cref="UndeliveredMessages"/> tells whether all messages were written.
    /// </summary>
    public bool Drained { get; internal set; }

    /// <summary>Accepted messages that were not written, over the life of the context.</summary>
    public long UndeliveredMessages { get; private set; }

    /// <summary>Their bytes, with frame headers.</summary>
    public long UndeliveredBytes { get; private set; }

    /// <summary>Messages that were written and may not have been received, over the life of the context: see <see
    /// cref="SocketStatistics.UnconfirmedMessages"/>.</summary>
    public long UnconfirmedMessages { get; private set; }

    /// <summary>Their peers, at most 1,000; the sums include all.</summary>
    public IReadOnlyList<UndeliveredPeer> Peers => _peers;

    /// <summary>The duration.</summary>
    public TimeSpan Elapsed { get; internal set; }

    /// <summary>
    /// The shards that did not end, by <see cref="ShardStatistics.Index"/>: a handler, or the thread pool, blocks them. Their connections
    /// stay open and their memory is kept until they continue.
    /// </summary>
    public IReadOnlyList<int> BlockedShards { get; internal set; } = [];

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

    /// <summary>
    /// What a socket could not deliver, added when it ends: it may have been disposed long before the shutdown.
    /// <paramref name="isOver"/>: if not, a blocked shard keeps connections open, and their queued messages are not written.
    /// </summary>
    internal void Add(SocketCounters counters, bool isOver)
    {
        (QueueCounts outbound, _) = counters.Sum();
        UndeliveredMessages += outbound.MissedMessages + (isOver ? 0 : outbound.QueuedMessages - outbound.QueuedUpdates);
        UndeliveredBytes += outbound.MissedBytes + (isOver ? 0 : outbound.QueuedBytes - outbound.QueuedUpdateBytes);
        UnconfirmedMessages += outbound.UnconfirmedMessages;
        _peers.AddRange(counters.Undelivered.Take(MaxPeers - _peers.Count).Select(static link => new UndeliveredPeer(link)));
    }
}

/// <summary>A peer that did not get all accepted messages.</summary>
public sealed class UndeliveredPeer
{
    private readonly UndeliveredLink _link;

    internal UndeliveredPeer(UndeliveredLink link) => _link = link;

    /// <summary>Its id on a <see cref="StreamSocket"/>. 0 for other types, whose peers have routing ids.</summary>
    public uint PeerId => _link.PeerId;

    /// <summary>Its endpoint.</summary>
    public string Endpoint => _link.Endpoint.ToString();

    /// <summary>Its address.</summary>
    public string RemoteAddress => _link.Remote;

    /// <summary>Accepted messages that were not written.</summary>
    public long Messages => _link.Messages;

    /// <summary>Their bytes, with frame headers.</summary>
    public long Bytes => _link.Bytes;
}
