using Net.Zlink.Sockets;

namespace Net.Zlink;

/// <summary>What a ZMP socket has done so far. Sent: accepted = written + dropped + queued. Received: read = delivered + dropped + filtered
/// + unread. In whole messages.</summary>
/// <remarks>Subscriptions count as messages where a SUB or XSUB sends them, and where an XPUB's application receives them. What a publisher
/// takes note of is in no count of the socket; <see cref="PeerInfo.MessagesReceived"/> has it.</remarks>
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
    public required HandshakeFailureCounts HandshakeFailures { get; init; }

    /// <summary>Messages that Send took for some peer: of a publisher one per subscriber.</summary>
    public required long AcceptedMessages { get; init; }

    /// <summary>Messages given to the operating system, or to a peer in this process.</summary>
    public required long WrittenMessages { get; init; }

    /// <summary>Their bytes, headers included; for inproc as many as it would be over a wire.</summary>
    public required long WrittenBytes { get; init; }

    /// <summary>Messages that wait to be written.</summary>
    public required long QueuedMessages { get; init; }

    /// <summary>Accepted messages that were not written, or not confirmed, when their connection ended, and those of
    /// <see cref="ObsoleteMessages"/>.</summary>
    public required long DroppedMessages { get; init; }

    /// <summary>Written messages that the peer may not have received: those of a connection that the peer ended within 5 s of its handshake
    /// without sending a frame, and those written after the peer's last frame before an ERROR.</summary>
    /// <remarks>ZMP has no acknowledgement of messages. After such a brief connection the next one sends nothing before the peer has
    /// answered a HEARTBEAT (docs/protocol.md section 15.3).</remarks>
    public required long UnconfirmedMessages { get; init; }

    /// <summary>Of the dropped ones those that nobody misses: a newer one has taken their place (Conflate), or they said of topics what the
    /// next connection is told anew.</summary>
    public required long ObsoleteMessages { get; init; }

    /// <summary>Messages not accepted for a peer because it was at its high-water mark: publishers, and ROUTER without Mandatory.</summary>
    public required long DroppedAtHighWaterMark { get; init; }

    /// <summary>The same, because as many bytes waited for the peer as <see cref="SocketOptions.SendByteLimit"/> allows.</summary>
    public required long DroppedAtByteLimit { get; init; }

    /// <summary>The same, because as many bytes waited in all queues together as <see cref="ZlinkContextOptions.QueuedByteLimit"/>
    /// allows.</summary>
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

    /// <summary>Messages that were read and dropped: unread ones of a peer that this side ended, superseded ones, and those of a topic that
    /// was cancelled.</summary>
    public required long DroppedUnreadMessages { get; init; }

    /// <summary>Messages that were read and are not for the application: a SUB had not subscribed to them, or a PUB, which receives
    /// nothing, was sent them.</summary>
    public required long FilteredMessages { get; init; }

    internal static SocketStatistics Of(SocketCore core)
    {
        var sums = new SocketSums();
        sums.Add(core);
        return sums.ToStatistics();
    }
}
