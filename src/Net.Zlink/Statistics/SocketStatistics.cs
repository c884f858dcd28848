using Net.Zlink.Sockets;

namespace Net.Zlink;

/// <summary>
/// A snapshot of a ZMP socket, in whole messages. Sent: accepted = written + dropped + queued. Received: read = delivered + dropped +
/// filtered + unread.
/// </summary>
/// <remarks>
/// Subscriptions count as messages where a SUB or XSUB sends them, and where an XPUB's application receives them. Other subscriptions at a
/// publisher count only in <see cref="PeerInfo.MessagesReceived"/>.
/// </remarks>
public sealed class SocketStatistics
{
    internal SocketStatistics()
    {
    }

    /// <summary>Links to peers, also to those that are not connected.</summary>
    public int Peers { get; internal init; }

    /// <summary>Connections that came in.</summary>
    public long AcceptedConnections { get; internal init; }

    /// <summary>Connections that were made.</summary>
    public long DialledConnections { get; internal init; }

    /// <summary>Rejected connections.</summary>
    public long RefusedConnections { get; internal init; }

    /// <summary>Connections that ended before the handshake was complete.</summary>
    public long FailedHandshakes => HandshakeFailures.Total;

    /// <summary>The same by cause.</summary>
    public HandshakeFailureCounts HandshakeFailures { get; internal init; }

    /// <summary>Messages accepted for a peer. A publisher counts one per subscriber.</summary>
    public long AcceptedMessages { get; internal init; }

    /// <summary>Messages written to the operating system, or to an inproc peer.</summary>
    public long WrittenMessages { get; internal init; }

    /// <summary>Their bytes with headers; inproc as over a wire.</summary>
    public long WrittenBytes { get; internal init; }

    /// <summary>Messages that wait to be written.</summary>
    public long QueuedMessages { get; internal init; }

    /// <summary>
    /// Accepted messages that were not written, or not confirmed, when their connection ended, with <see cref="ObsoleteMessages"/>.
    /// </summary>
    public long DroppedMessages { get; internal init; }

    /// <summary>
    /// Written messages that the peer may not have received: those of a connection that the peer ended within 5 s of its handshake without
    /// sending a frame, and those written after the peer's last frame before an ERROR, a loss of the connection or a timeout. They may have
    /// arrived all the same. Those of PUB and XPUB are not counted.
    /// </summary>
    /// <remarks>ZMP has no acknowledgement of messages. After such a brief connection the next one sends nothing before the peer has
    /// answered a HEARTBEAT (docs/protocol.md section 15.3).</remarks>
    public long UnconfirmedMessages { get; internal init; }

    /// <summary>
    /// Dropped messages without loss: replaced by a newer one (Conflate), or subscription updates that the next connection gets again.
    /// </summary>
    public long ObsoleteMessages { get; internal init; }

    /// <summary>
    /// Messages of a publisher, or of a ROUTER without Mandatory, that were refused because the peer was at its high-water mark.
    /// </summary>
    public long DroppedAtHighWaterMark { get; internal init; }

    /// <summary>As before, at <see cref="SocketOptions.SendByteLimit"/>.</summary>
    public long DroppedAtByteLimit { get; internal init; }

    /// <summary>
    /// As before, at <see cref="ZlinkContextOptions.QueuedByteLimit"/>, or a publisher's copy for which there was no memory.
    /// </summary>
    public long DroppedAtContextLimit { get; internal init; }

    /// <summary>Messages to an unknown peer, sent by a ROUTER without Mandatory.</summary>
    public long DroppedUnroutable { get; internal init; }

    /// <summary>Published messages that no subscription matched.</summary>
    public long UnmatchedMessages { get; internal init; }

    /// <summary>Messages read from peers.</summary>
    public long ReceivedMessages { get; internal init; }

    /// <summary>Their bytes with headers; inproc as over a wire.</summary>
    public long ReceivedBytes { get; internal init; }

    /// <summary>Messages that the application received.</summary>
    public long DeliveredMessages { get; internal init; }

    /// <summary>Messages that wait to be received.</summary>
    public long UnreadMessages { get; internal init; }

    /// <summary>Dropped unread messages: of a peer that this side disconnected, replaced ones, and those of a removed topic.</summary>
    public long DroppedUnreadMessages { get; internal init; }

    /// <summary>Messages that the application does not receive: no subscription of a SUB matched, or they were sent to a PUB.</summary>
    public long FilteredMessages { get; internal init; }

    internal static SocketStatistics Of(SocketCore core)
    {
        var sums = new SocketSums();
        sums.Add(core.Counters, core.LinkCount);
        return sums.ToStatistics();
    }
}
