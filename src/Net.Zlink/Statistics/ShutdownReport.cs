using System.Globalization;
using System.Text;

namespace Net.Zlink;

/// <summary>How a shutdown ended.</summary>
public sealed record ShutdownReport
{
    /// <summary>True if every connection ended by itself before the deadline. Whether all messages left is another question:
    /// <see cref="UndeliveredMessages"/>.</summary>
    public required bool Drained { get; init; }

    /// <summary>Messages that Send had accepted and that were not written to the network, over the life of the context.</summary>
    public required long UndeliveredMessages { get; init; }

    /// <summary>Their bytes, frame headers included.</summary>
    public required long UndeliveredBytes { get; init; }

    /// <summary>Messages that were written and may not have been received, over the life of the context: see <see
    /// cref="SocketStatistics.UnconfirmedMessages"/>.</summary>
    public long UnconfirmedMessages { get; init; }

    /// <summary>The peers concerned, at most 1,000; the sums count all.</summary>
    public required IReadOnlyList<UndeliveredPeer> Peers { get; init; }

    /// <summary>How long it took.</summary>
    public required TimeSpan Elapsed { get; init; }

    /// <summary>
    /// Shards that the shutdown did not wait for any longer, by <see cref="ShardStatistics.Index"/>: a handler blocks them, or the thread
    /// pool does not run them. What they use is freed when they go on; their connections are open until then.
    /// </summary>
    public IReadOnlyList<int> BlockedShards { get; init; } = [];

    /// <summary>The report in words, for a log: its form may change.</summary>
    /// <returns>A line, and one for each of the first peers.</returns>
    public override string ToString()
    {
        const int Shown = 10; // What fits a screen beside the rest of a log.
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

/// <summary>A peer that did not get everything that was accepted for it.</summary>
/// <param name="PeerId">Its id on a <see cref="StreamSocket"/>; 0 on the other types, whose peers have routing ids.</param>
/// <param name="Endpoint">The endpoint it belonged to.</param>
/// <param name="RemoteAddress">Its address.</param>
/// <param name="Messages">Messages accepted but not written.</param>
/// <param name="Bytes">Their bytes, frame headers included.</param>
public sealed record UndeliveredPeer(uint PeerId, string Endpoint, string RemoteAddress, long Messages, long Bytes);
