using Net.Zlink.Engine;
using Net.Zlink.Sockets;

namespace Net.Zlink;

/// <summary>A snapshot of one peer. Bytes include frame headers.</summary>
public sealed class PeerStatistics
{
    internal PeerStatistics()
    {
    }

    /// <summary>Messages read from the peer.</summary>
    public long ReceivedMessages { get; internal init; }

    /// <summary>Their bytes.</summary>
    public long ReceivedBytes { get; internal init; }

    /// <summary>Messages read that wait to be received by the application.</summary>
    public long UnreadMessages { get; internal init; }

    /// <summary>Messages that Send accepted.</summary>
    public long AcceptedMessages { get; internal init; }

    /// <summary>Messages written to the network.</summary>
    public long WrittenMessages { get; internal init; }

    /// <summary>Their bytes.</summary>
    public long WrittenBytes { get; internal init; }

    /// <summary>Messages that wait to be written. Accepted = written + queued + dropped.</summary>
    public long QueuedMessages { get; internal init; }

    /// <summary>Their bytes.</summary>
    public long QueuedBytes { get; internal init; }

    /// <summary>Accepted messages that were not written before the connection ended.</summary>
    public long DroppedMessages { get; internal init; }

    /// <summary>The peer is not read, because its messages are unread or its handler is busy.</summary>
    public bool IsPaused { get; internal init; }

    /// <summary>Time since the last read from it.</summary>
    public TimeSpan SinceLastRead { get; internal init; }

    /// <summary>Time since the last write to it.</summary>
    public TimeSpan SinceLastWrite { get; internal init; }

    internal static PeerStatistics Of(StreamLink link)
    {
        QueueCounts outbound = link.Outbound;
        QueueCounts inbound = link.Inbound;
        Connection? connection = link.Connection;
        return new PeerStatistics
        {
            ReceivedMessages = inbound.AcceptedMessages,
            ReceivedBytes = inbound.AcceptedBytes,
            UnreadMessages = inbound.QueuedMessages,
            AcceptedMessages = outbound.AcceptedMessages,
            WrittenMessages = outbound.TakenMessages,
            WrittenBytes = outbound.TakenBytes,
            QueuedMessages = outbound.QueuedMessages,
            QueuedBytes = outbound.QueuedBytes,
            DroppedMessages = outbound.DroppedMessages,
            IsPaused = connection?.IsPaused ?? false,
            SinceLastRead = connection?.SinceLastRead ?? TimeSpan.Zero,
            SinceLastWrite = connection?.SinceLastWrite ?? TimeSpan.Zero,
        };
    }
}
