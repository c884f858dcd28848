using System.Globalization;
using System.Text;

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
