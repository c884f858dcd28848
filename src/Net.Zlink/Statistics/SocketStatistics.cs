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
public sealed record SocketStatistics
{
    /// <summary>Links to peers, also to those that are not connected.</summary>
    public required int Peers { get; init; }

    /// <summary>Connections that came in.</summary>
    public required long AcceptedConnections { get; init; }

    /// <summary>Connections that were made.</summary>
    public required long DialledConnections { get; init; }

    /// <summary>Rejected connections.</summary>
    public required long RefusedConnections { get; init; }

    /// <summary>Connections that ended before the handshake was complete.</summary>
    public long FailedHandshakes => HandshakeFailures.Total;

    /// <summary>The same by cause.</summary>
    public required HandshakeFailureCounts HandshakeFailures { get; init; }

    /// <summary>Messages accepted for a peer. A publisher counts one per subscriber.</summary>
    public required long AcceptedMessages { get; init; }

    /// <summary>Messages written to the operating system, or to an inproc peer.</summary>
    public required long WrittenMessages { get; init; }

    /// <summary>Their bytes with headers; inproc as over a wire.</summary>
    public required long WrittenBytes { get; init; }

    /// <summary>Messages that wait to be written.</summary>
    public required long QueuedMessages { get; init; }

    /// <summary>
    /// Accepted messages that were not written, or not confirmed, when their connection ended, with <see cref="ObsoleteMessages"/>.
    /// </summary>
    public required long DroppedMessages { get; init; }

    /// <summary>
    /// Written messages that the peer may not have received: those of a connection that the peer ended within 5 s of its handshake without
    /// sending a frame, and those written after the peer's last frame before an ERROR, a loss of the connection or a timeout. They may have
    /// arrived all the same. Those of PUB and XPUB are not counted.
    /// </summary>
    /// <remarks>ZMP has no acknowledgement of messages. After such a brief connection the next one sends nothing before the peer has
    /// answered a HEARTBEAT (docs/protocol.md section 15.3).</remarks>
    public required long UnconfirmedMessages { get; init; }

    /// <summary>
    /// Dropped messages without loss: replaced by a newer one (Conflate), or subscription updates that the next connection gets again.
    /// </summary>
    public required long ObsoleteMessages { get; init; }

    /// <summary>
    /// Messages of a publisher, or of a ROUTER without Mandatory, that were refused because the peer was at its high-water mark.
    /// </summary>
    public required long DroppedAtHighWaterMark { get; init; }

    /// <summary>As before, at <see cref="SocketOptions.SendByteLimit"/>.</summary>
    public required long DroppedAtByteLimit { get; init; }

    /// <summary>
    /// As before, at <see cref="ZlinkContextOptions.QueuedByteLimit"/>, or a publisher's copy for which there was no memory.
    /// </summary>
    public required long DroppedAtContextLimit { get; init; }

    /// <summary>Messages to an unknown peer, sent by a ROUTER without Mandatory.</summary>
    public required long DroppedUnroutable { get; init; }

    /// <summary>Published messages that no subscription matched.</summary>
    public required long UnmatchedMessages { get; init; }

    /// <summary>Messages read from peers.</summary>
    public required long ReceivedMessages { get; init; }

    /// <summary>Their bytes with headers; inproc as over a wire.</summary>
    public required long ReceivedBytes { get; init; }

    /// <summary>Messages that the application received.</summary>
    public required long DeliveredMessages { get; init; }

    /// <summary>Messages that wait to be received.</summary>
    public required long UnreadMessages { get; init; }

    /// <summary>Dropped unread messages: of a peer that this side disconnected, replaced ones, and those of a removed topic.</summary>
    public required long DroppedUnreadMessages { get; init; }

    /// <summary>Messages that the application does not receive: no subscription of a SUB matched, or they were sent to a PUB.</summary>
    public required long FilteredMessages { get; init; }

    internal static SocketStatistics Of(SocketCore core)
    {
        var sums = new SocketSums();
        sums.Add(core);
        return sums.ToStatistics();
    }
}
