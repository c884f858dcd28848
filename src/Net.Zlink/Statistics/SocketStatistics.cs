using Net.Zlink.Engine;
using Net.Zlink.Sockets;
using Net.Zlink.Sockets.Pipes;

namespace Net.Zlink;

/// <summary>What a ZMP socket has done so far. Sent: accepted = written + dropped + queued. Received: read = delivered + dropped + filtered + unread. In whole messages.</summary>
/// <remarks>Subscriptions count as messages where a SUB or XSUB sends them, and where an XPUB's application receives them. What a publisher takes note of is in no count of the socket; <see cref="PeerInfo.MessagesReceived"/> has it.</remarks>
public sealed record SocketStatistics
{
    /// <summary>Pipes to peers, also to those that are not connected.</summary>
    public required int Peers { get; init; }

    /// <summary>Connections that came in.</summary>
    public required long AcceptedConnections { get; init; }

    /// <summary>Connections that were made.</summary>
    public required long DialledConnections { get; init; }

    /// <summary>Connections turned away.</summary>
    public required long RefusedConnections { get; init; }

    /// <summary>Connections that ended before the handshake was complete.</summary>
    public long FailedHandshakes => HandshakeFailures.Total;

    /// <summary>The same by cause.</summary>
    public required HandshakeFailures HandshakeFailures { get; init; }

    /// <summary>Messages that Send took for some peer: of a publisher one per subscriber.</summary>
    public required long AcceptedMessages { get; init; }

    /// <summary>Messages given to the operating system, or to a peer in this process.</summary>
    public required long WrittenMessages { get; init; }

    /// <summary>Their bytes, headers included; for inproc as many as it would be over a wire.</summary>
    public required long WrittenBytes { get; init; }

    /// <summary>Messages that wait to be written.</summary>
    public required long QueuedMessages { get; init; }

    /// <summary>Accepted messages that were not written, or not confirmed, when their connection ended, and those of <see cref="ObsoleteMessages"/>.</summary>
    public required long DroppedMessages { get; init; }

    /// <summary>Of the dropped ones those that nobody misses: a newer one has taken their place (Conflate), or they said of topics what the next connection is told anew.</summary>
    public required long ObsoleteMessages { get; init; }

    /// <summary>Messages not accepted for a peer because it was at its high-water mark: publishers, and ROUTER without Mandatory.</summary>
    public required long DroppedAtHighWaterMark { get; init; }

    /// <summary>The same, because as many bytes waited for the peer as <see cref="SocketOptions.SendByteLimit"/> allows.</summary>
    public required long DroppedAtByteLimit { get; init; }

    /// <summary>The same, because as many bytes waited in all queues together as <see cref="ZlinkContextOptions.QueuedByteLimit"/> allows.</summary>
    public required long DroppedAtContextLimit { get; init; }

    /// <summary>Messages for a peer that does not exist, by ROUTER without Mandatory.</summary>
    public required long DroppedUnroutable { get; init; }

    /// <summary>Published messages that no subscription matched.</summary>
    public required long UnmatchedMessages { get; init; }

    /// <summary>Messages read from peers.</summary>
    public required long ReceivedMessages { get; init; }

    /// <summary>Their bytes, headers included; for inproc as many as it would be over a wire.</summary>
    public required long ReceivedBytes { get; init; }

    /// <summary>Messages handed to the application.</summary>
    public required long DeliveredMessages { get; init; }

    /// <summary>Messages that wait to be received.</summary>
    public required long UnreadMessages { get; init; }

    /// <summary>Messages that were read and dropped: unread ones of a peer that this side ended, superseded ones, and those of a topic that was cancelled.</summary>
    public required long DroppedUnreadMessages { get; init; }

    /// <summary>Messages that were read and are not for the application: a SUB had not subscribed to them, or a PUB, which receives nothing, was sent them.</summary>
    public required long FilteredMessages { get; init; }

    internal static SocketStatistics Nothing { get; } = new()
    {
        Peers = 0,
        AcceptedConnections = 0,
        DialledConnections = 0,
        RefusedConnections = 0,
        HandshakeFailures = default,
        AcceptedMessages = 0,
        WrittenMessages = 0,
        WrittenBytes = 0,
        QueuedMessages = 0,
        DroppedMessages = 0,
        ObsoleteMessages = 0,
        DroppedAtHighWaterMark = 0,
        DroppedAtByteLimit = 0,
        DroppedAtContextLimit = 0,
        DroppedUnroutable = 0,
        UnmatchedMessages = 0,
        ReceivedMessages = 0,
        ReceivedBytes = 0,
        DeliveredMessages = 0,
        UnreadMessages = 0,
        DroppedUnreadMessages = 0,
        FilteredMessages = 0,
    };

    internal SocketStatistics Plus(SocketStatistics other) => new()
    {
        Peers = Peers + other.Peers,
        AcceptedConnections = AcceptedConnections + other.AcceptedConnections,
        DialledConnections = DialledConnections + other.DialledConnections,
        RefusedConnections = RefusedConnections + other.RefusedConnections,
        HandshakeFailures = HandshakeFailures.Plus(other.HandshakeFailures),
        AcceptedMessages = AcceptedMessages + other.AcceptedMessages,
        WrittenMessages = WrittenMessages + other.WrittenMessages,
        WrittenBytes = WrittenBytes + other.WrittenBytes,
        QueuedMessages = QueuedMessages + other.QueuedMessages,
        DroppedMessages = DroppedMessages + other.DroppedMessages,
        ObsoleteMessages = ObsoleteMessages + other.ObsoleteMessages,
        DroppedAtHighWaterMark = DroppedAtHighWaterMark + other.DroppedAtHighWaterMark,
        DroppedAtByteLimit = DroppedAtByteLimit + other.DroppedAtByteLimit,
        DroppedAtContextLimit = DroppedAtContextLimit + other.DroppedAtContextLimit,
        DroppedUnroutable = DroppedUnroutable + other.DroppedUnroutable,
        UnmatchedMessages = UnmatchedMessages + other.UnmatchedMessages,
        ReceivedMessages = ReceivedMessages + other.ReceivedMessages,
        ReceivedBytes = ReceivedBytes + other.ReceivedBytes,
        DeliveredMessages = DeliveredMessages + other.DeliveredMessages,
        UnreadMessages = UnreadMessages + other.UnreadMessages,
        DroppedUnreadMessages = DroppedUnreadMessages + other.DroppedUnreadMessages,
        FilteredMessages = FilteredMessages + other.FilteredMessages,
    };

    internal static SocketStatistics Of(SocketCore core)
    {
        Pipe[] pipes = core.Pipes;
        SocketBooks books = core.Books;
        (OutboundCounts outbound, LaneCounts inbound) = books.Sum();
        return new SocketStatistics
        {
            Peers = pipes.Length,
            AcceptedConnections = Volatile.Read(ref books.Accepted),
            DialledConnections = Volatile.Read(ref books.Dialled),
            RefusedConnections = Volatile.Read(ref books.Refused),
            HandshakeFailures = HandshakeFailures.Of(books.FailedHandshakes),
            AcceptedMessages = outbound.AcceptedMessages,
            WrittenMessages = outbound.WrittenMessages,
            WrittenBytes = outbound.WrittenBytes,
            QueuedMessages = outbound.QueuedMessages,
            DroppedMessages = outbound.DroppedMessages,
            ObsoleteMessages = outbound.ObsoleteMessages,
            DroppedAtHighWaterMark = Volatile.Read(ref books.DroppedAtHighWaterMark),
            DroppedAtByteLimit = Volatile.Read(ref books.DroppedAtByteLimit),
            DroppedAtContextLimit = Volatile.Read(ref books.DroppedAtContextLimit),
            DroppedUnroutable = Volatile.Read(ref books.DroppedUnroutable),
            UnmatchedMessages = Volatile.Read(ref books.Unmatched),
            ReceivedMessages = inbound.Received,
            ReceivedBytes = inbound.ReceivedBytes,
            DeliveredMessages = inbound.Delivered,
            UnreadMessages = inbound.QueuedMessages,
            DroppedUnreadMessages = inbound.Dropped,
            FilteredMessages = inbound.Filtered,
        };
    }
}
