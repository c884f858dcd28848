using Net.Zlink.Sockets;

namespace Net.Zlink;

/// <summary>A snapshot of one STREAM socket, with disconnected peers. Bytes include frame headers.</summary>
public sealed class StreamStatistics
{
    internal StreamStatistics()
    {
    }

    /// <summary>Peers that can be sent to now.</summary>
    public int Peers { get; internal init; }

    /// <summary>Accepted connections, with rejected ones.</summary>
    public long AcceptedConnections { get; internal init; }

    /// <summary>Outgoing connections made.</summary>
    public long DialledConnections { get; internal init; }

    /// <summary>Rejected connections: MaxConnections, or too many unread events.</summary>
    public long RefusedConnections { get; internal init; }

    /// <summary>Accepts that failed.</summary>
    public long AcceptErrors { get; internal init; }

    /// <summary>Failed TLS handshakes and WebSocket upgrades in both directions.</summary>
    public long FailedHandshakes => HandshakeFailures.Total;

    /// <summary>The same by cause. A STREAM peer has no type and sends no ERROR, so two of them stay 0.</summary>
    public HandshakeFailureCounts HandshakeFailures { get; internal init; }

    /// <summary>Closed connections.</summary>
    public long ClosedConnections { get; internal init; }

    /// <summary>Handlers that threw.</summary>
    public long HandlerFaults { get; internal init; }

    /// <summary>Messages read.</summary>
    public long ReceivedMessages { get; internal init; }

    /// <summary>Their bytes.</summary>
    public long ReceivedBytes { get; internal init; }

    /// <summary>Messages read that wait to be received.</summary>
    public long UnreadMessages { get; internal init; }

    /// <summary>Dropped unread messages: the peer was disconnected, or the socket disposed.</summary>
    public long DroppedUnreadMessages { get; internal init; }

    /// <summary>Messages that Send accepted.</summary>
    public long AcceptedMessages { get; internal init; }

    /// <summary>Their bytes.</summary>
    public long AcceptedBytes { get; internal init; }

    /// <summary>Messages written to the network.</summary>
    public long WrittenMessages { get; internal init; }

    /// <summary>Their bytes.</summary>
    public long WrittenBytes { get; internal init; }

    /// <summary>Accepted messages that were not written before their connection ended.</summary>
    public long DroppedMessages { get; internal init; }

    internal static StreamStatistics Of(StreamHub hub)
    {
        var sums = new SocketSums();
        sums.Add(hub.Counters, hub.PeerCount);
        SocketStatistics sum = sums.ToStatistics();
        return new StreamStatistics
        {
            Peers = sum.Peers,
            AcceptedConnections = sum.AcceptedConnections,
            DialledConnections = sum.DialledConnections,
            RefusedConnections = sum.RefusedConnections,
            AcceptErrors = Volatile.Read(ref hub.Counters.AcceptErrors),
            HandshakeFailures = sum.HandshakeFailures,
            ClosedConnections = Volatile.Read(ref hub.Counters.Closed),
            HandlerFaults = Volatile.Read(ref hub.Counters.HandlerFaults),
            ReceivedMessages = sum.ReceivedMessages,
            ReceivedBytes = sum.ReceivedBytes,
            UnreadMessages = sum.UnreadMessages,
            DroppedUnreadMessages = sum.DroppedUnreadMessages,
            AcceptedMessages = sum.AcceptedMessages,
            AcceptedBytes = sums.AcceptedBytes,
            WrittenMessages = sum.WrittenMessages,
            WrittenBytes = sum.WrittenBytes,
            DroppedMessages = sum.DroppedMessages,
        };
    }
}
