using System.Globalization;
using System.Text;

namespace Net.Zlink;

/// <summary>The result of a shutdown.</summary>
public sealed record ShutdownReport
{
    /// <summary>
    /// Every connection ended before the deadline. <see cref="UndeliveredMessages"/> tells whether all messages were written.
    /// </summary>
    public required bool Drained { get; init; }

    /// <summary>Accepted messages that were not written, over the life of the context.</summary>
    public required long UndeliveredMessages { get; init; }

    /// <summary>Their bytes, with frame headers.</summary>
    public required long UndeliveredBytes { get; init; }

    /// <summary>Messages that were written and may not have been received, over the life of the context: see <see
    /// cref="SocketStatistics.UnconfirmedMessages"/>.</summary>
    public long UnconfirmedMessages { get; init; }

    /// <summary>Their peers, at most 1,000; the sums include all.</summary>
    public required IReadOnlyList<UndeliveredPeer> Peers { get; init; }

    /// <summary>The duration.</summary>
    public required TimeSpan Elapsed { get; init; }

    /// <summary>
    /// The shards that did not end, by <see cref="ShardStatistics.Index"/>: a handler, or the thread pool, blocks them. Their connections
    /// stay open and their memory is kept until they continue.
    /// </summary>
    public IReadOnlyList<int> BlockedShards { get; init; } = [];

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
            text.Append(CultureInfo.InvariantCulture, $", {UnconfirmedMessages} written and not confirmed");
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
/// <param name="PeerId">Its id on a <see cref="StreamSocket"/>. 0 for other types, whose peers have routing ids.</param>
/// <param name="Endpoint">Its endpoint.</param>
/// <param name="RemoteAddress">Its address.</param>
/// <param name="Messages">Accepted messages that were not written.</param>
/// <param name="Bytes">Their bytes, with frame headers.</param>
public sealed record UndeliveredPeer(uint PeerId, string Endpoint, string RemoteAddress, long Messages, long Bytes);
