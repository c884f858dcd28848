using Net.Zlink.Sockets;

namespace Net.Zlink;

/// <summary>A snapshot of one STREAM socket, with disconnected peers. Bytes include frame headers.</summary>
public sealed record StreamStatistics
{
    /// <summary>Peers that can be sent to now.</summary>
    public required int Peers { get; init; }

    /// <summary>Accepted connections, with rejected ones.</summary>
    public required long AcceptedConnections { get; init; }

    /// <summary>Outgoing connections made.</summary>
    public required long DialledConnections { get; init; }

    /// <summary>Rejected connections: MaxConnections, or too many unread events.</summary>
    public required long RefusedConnections { get; init; }

    /// <summary>Accepts that failed.</summary>
    public required long AcceptErrors { get; init; }

    /// <summary>Failed TLS handshakes and WebSocket upgrades in both directions.</summary>
    public long FailedHandshakes => HandshakeFailures.Total;

    /// <summary>The same by cause. A STREAM peer has no type and sends no ERROR, so two of them stay 0.</summary>
    public required HandshakeFailureCounts HandshakeFailures { get; init; }

    /// <summary>Closed connections.</summary>
    public required long ClosedConnections { get; init; }

    /// <summary>Handlers that threw.</summary>
    public required long HandlerFaults { get; init; }

    /// <summary>Messages read.</summary>
    public required long ReceivedMessages { get; init; }

    /// <summary>Their bytes.</summary>
    public required long ReceivedBytes { get; init; }

    /// <summary>Messages read that wait to be received.</summary>
    public required long UnreadMessages { get; init; }

    /// <summary>Dropped unread messages: the peer was disconnected, or the socket disposed.</summary>
    public required long DroppedUnreadMessages { get; init; }

    /// <summary>Messages that Send accepted.</summary>
    public required long AcceptedMessages { get; init; }

    /// <summary>Their bytes.</summary>
    public required long AcceptedBytes { get; init; }

    /// <summary>Messages written to the network.</summary>
    public required long WrittenMessages { get; init; }

    /// <summary>Their bytes.</summary>
    public required long WrittenBytes { get; init; }

    /// <summary>Accepted messages that were not written before their connection ended.</summary>
    public required long DroppedMessages { get; init; }

    internal static StreamStatistics Of(StreamHub hub)
    {
        StreamCounters sum = hub.Sum();
        return new StreamStatistics
        {
            Peers = (int)sum.Peers,
            AcceptedConnections = sum.Accepted,
            DialledConnections = sum.Dialled,
            RefusedConnections = sum.Refused,
            AcceptErrors = sum.AcceptErrors,
            HandshakeFailures = HandshakeFailureCounts.Of(sum.FailedHandshakes),
            ClosedConnections = sum.Closed,
            HandlerFaults = sum.HandlerFaults,
            ReceivedMessages = sum.ReceivedMessages,
            ReceivedBytes = sum.ReceivedBytes,
            UnreadMessages = sum.UnreadMessages,
            DroppedUnreadMessages = sum.DroppedUnread,
            AcceptedMessages = sum.AcceptedMessages,
            AcceptedBytes = sum.AcceptedBytes,
            WrittenMessages = sum.WrittenMessages,
            WrittenBytes = sum.WrittenBytes,
            DroppedMessages = sum.DroppedMessages,
        };
    }
}
