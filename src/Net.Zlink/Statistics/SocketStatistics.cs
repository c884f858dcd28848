using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Sockets.Endpoints;
using Net.Zlink.Sockets.Links;

namespace Net.Zlink;

/// <summary>
/// A snapshot of a socket, in whole messages, with peers that have gone. Sent: accepted = written + dropped + queued. Received: read =
/// delivered + dropped + filtered + unread.
/// </summary>
/// <remarks>
/// Subscriptions count as messages where a SUB or XSUB sends them, and where an XPUB's application receives them. Other subscriptions at a
/// publisher count only in <see cref="PeerInfo.MessagesReceived"/>.
/// </remarks>
public sealed class SocketStatistics
{
    private readonly EventCounters _events = new();
    private QueueCounts _outbound;
    private QueueCounts _inbound;

    internal SocketStatistics()
    {
    }

    /// <summary>Links to peers, also to those that are not connected. For STREAM: peers that can be sent to now.</summary>
    public int Peers { get; private set; }

    /// <summary>Connections that came in.</summary>
    public long AcceptedConnections => _events.Accepted;

    /// <summary>Connections that were made.</summary>
    public long DialledConnections => _events.Dialled;

    /// <summary>Rejected connections.</summary>
    public long RefusedConnections => _events.Refused;

    /// <summary>Accepts that failed.</summary>
    public long AcceptErrors => _events.AcceptErrors;

    /// <summary>Connections of a STREAM socket that have ended.</summary>
    public long ClosedConnections => _events.Closed;

    /// <summary>Handlers of a STREAM socket that threw.</summary>
    public long HandlerFaults => _events.HandlerFaults;

    /// <summary>Connections that ended before the handshake was complete. For STREAM: the handshake of tls, ws or wss.</summary>
    public long FailedHandshakes => HandshakeFailures.Total;

    /// <summary>The same by cause.</summary>
    public HandshakeFailureCounts HandshakeFailures => HandshakeFailureCounts.Of(_events.FailedHandshakes);

    /// <summary>Messages accepted for a peer. A publisher counts one per subscriber.</summary>
    public long AcceptedMessages => _outbound.AcceptedMessages;

    /// <summary>Their bytes with headers.</summary>
    public long AcceptedBytes => _outbound.AcceptedBytes;

    /// <summary>Messages written to the operating system, or to an inproc peer.</summary>
    public long WrittenMessages => _outbound.TakenMessages;

    /// <summary>Their bytes with headers; inproc as over a wire.</summary>
    public long WrittenBytes => _outbound.TakenBytes;

    /// <summary>Messages that wait to be written.</summary>
    public long QueuedMessages => _outbound.QueuedMessages;

    /// <summary>
    /// Accepted messages that were not written, or not confirmed, when their connection ended, with <see cref="ObsoleteMessages"/>.
    /// </summary>
    public long DroppedMessages => _outbound.DroppedMessages;

    /// <summary>
    /// Written messages that the peer may not have received: those of a connection that the peer ended within 5 s of its handshake without
    /// sending a frame, and those written after the peer's last frame before an ERROR, a loss of the connection or a timeout. They may have
    /// arrived all the same. Those of PUB and XPUB are not counted.
    /// </summary>
    /// <remarks>ZMP has no acknowledgement of messages. After such a brief connection the next one sends nothing before the peer has
    /// answered a HEARTBEAT (docs/protocol.md section 15.3).</remarks>
    public long UnconfirmedMessages => _outbound.UnconfirmedMessages;

    /// <summary>
    /// Dropped messages without loss: replaced by a newer one (Conflate), or subscription updates that the next connection gets again.
    /// </summary>
    public long ObsoleteMessages => _outbound.ObsoleteMessages;

    /// <summary>
    /// Messages of a publisher, or of a ROUTER without Mandatory, that were refused because the peer was at its high-water mark.
    /// </summary>
    public long DroppedAtHighWaterMark => _events.DroppedAtHighWaterMark;

    /// <summary>As before, at <see cref="SocketOptions.SendByteLimit"/>.</summary>
    public long DroppedAtByteLimit => _events.DroppedAtByteLimit;

    /// <summary>
    /// As before, at <see cref="ZlinkContextOptions.QueuedByteLimit"/>, or a publisher's copy for which there was no memory.
    /// </summary>
    public long DroppedAtContextLimit => _events.DroppedAtContextLimit;

    /// <summary>Messages to an unknown peer, sent by a ROUTER without Mandatory.</summary>
    public long DroppedUnroutable => _events.DroppedUnroutable;

    /// <summary>Published messages that no subscription matched.</summary>
    public long UnmatchedMessages => _events.Unmatched;

    /// <summary>Messages read from peers.</summary>
    public long ReceivedMessages => _inbound.AcceptedMessages;

    /// <summary>Their bytes with headers; inproc as over a wire.</summary>
    public long ReceivedBytes => _inbound.AcceptedBytes;

    /// <summary>Messages that the application received.</summary>
    public long DeliveredMessages => _inbound.TakenMessages;

    /// <summary>Messages that wait to be received.</summary>
    public long UnreadMessages => _inbound.QueuedMessages;

    /// <summary>Dropped unread messages: of a peer that this side disconnected, replaced ones, and those of a removed topic.</summary>
    public long DroppedUnreadMessages => _inbound.DroppedMessages;

    /// <summary>Messages that the application does not receive: no subscription of a SUB matched, or they were sent to a PUB.</summary>
    public long FilteredMessages => _inbound.FilteredMessages;

    /// <summary>The open sockets whose counts these are: those of one type are summed up for the instruments.</summary>
    internal int Sockets { get; private set; }

    internal void Add(SocketCounters counters, int peers)
    {
        Sockets++;
        Peers += peers;
        counters.AddTo(ref _outbound, ref _inbound);
        _events.Add(counters);
    }

    internal void Add(SocketStatistics other)
    {
        Sockets += other.Sockets;
        Peers += other.Peers;
        _outbound.Add(other._outbound);
        _inbound.Add(other._inbound);
        _events.Add(other._events);
    }

    /// <summary>The socket is not open any more, and nothing of it waits.</summary>
    internal void AddGone(SocketCounters counters)
    {
        Add(counters, peers: 0);
        Sockets = 0;
        _outbound.DropQueued();
        _inbound.DropQueued();
    }
}

/// <summary>Failed handshakes by cause.</summary>
public readonly struct HandshakeFailureCounts
{
    /// <summary>The connection ended: the peer closed it, or it was lost.</summary>
    public long Lost { get; internal init; }

    /// <summary>It took longer than <see cref="SocketOptions.HandshakeInterval"/>.</summary>
    public long TimedOut { get; internal init; }

    /// <summary>The peer's bytes were not the protocol.</summary>
    public long Malformed { get; internal init; }

    /// <summary>The peer's socket type does not fit.</summary>
    public long TypeMismatch { get; internal init; }

    /// <summary>The peer answered with an ERROR frame.</summary>
    public long ErrorReceived { get; internal init; }

    /// <summary>A certificate was rejected by either side, or could not be read.</summary>
    public long Certificate { get; internal init; }

    /// <summary>The sum of all causes.</summary>
    public long Total => Lost + TimedOut + Malformed + TypeMismatch + ErrorReceived + Certificate;

    internal static HandshakeFailureCounts Of(FailedHandshakes counts) => new()
    {
        Lost = counts[HandshakeFailure.Lost],
        TimedOut = counts[HandshakeFailure.TimedOut],
        Malformed = counts[HandshakeFailure.Malformed],
        TypeMismatch = counts[HandshakeFailure.TypeMismatch],
        ErrorReceived = counts[HandshakeFailure.ErrorReceived],
        Certificate = counts[HandshakeFailure.Certificate],
    };
}
