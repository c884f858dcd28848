using Net.Zlink.Engine;
using Net.Zlink.Sockets;

namespace Net.Zlink;

/// <summary>A snapshot of one peer. Bytes include frame headers.</summary>
public sealed record PeerStatistics
{
    /// <summary>Messages read from the peer.</summary>
    public required long ReceivedMessages { get; init; }

    /// <summary>Their bytes.</summary>
    public required long ReceivedBytes { get; init; }

    /// <summary>Messages read that wait to be received by the application.</summary>
    public required long UnreadMessages { get; init; }

    /// <summary>Messages that Send accepted.</summary>
    public required long AcceptedMessages { get; init; }

    /// <summary>Messages written to the network.</summary>
    public required long WrittenMessages { get; init; }

    /// <summary>Their bytes.</summary>
    public required long WrittenBytes { get; init; }

    /// <summary>Messages that wait to be written. Accepted = written + queued + dropped.</summary>
    public required long QueuedMessages { get; init; }

    /// <summary>Their bytes.</summary>
    public required long QueuedBytes { get; init; }

    /// <summary>Accepted messages that were not written before the connection ended.</summary>
    public required long DroppedMessages { get; init; }

    /// <summary>The peer is not read, because its messages are unread or its handler is busy.</summary>
    public required bool IsPaused { get; init; }

    /// <summary>Time since the last read from it.</summary>
    public required TimeSpan SinceLastRead { get; init; }

    /// <summary>Time since the last write to it.</summary>
    public required TimeSpan SinceLastWrite { get; init; }

    internal static PeerStatistics Of(StreamLink link)
    {
        LinkCounts counts = link.Count();
        Connection? connection = link.Connection;
        return new PeerStatistics
        {
            ReceivedMessages = counts.ReceivedMessages,
            ReceivedBytes = counts.ReceivedBytes,
            UnreadMessages = link.Pull is null ? 0 : Volatile.Read(ref link.Pull.Messages),
            AcceptedMessages = counts.Outbound.AcceptedMessages,
            WrittenMessages = counts.Outbound.WrittenMessages,
            WrittenBytes = counts.Outbound.WrittenBytes,
            QueuedMessages = counts.Outbound.QueuedMessages,
            QueuedBytes = counts.Outbound.QueuedBytes,
            DroppedMessages = counts.Outbound.DroppedMessages,
            IsPaused = connection?.IsPaused ?? false,
            SinceLastRead = connection?.SinceLastRead ?? TimeSpan.Zero,
            SinceLastWrite = connection?.SinceLastWrite ?? TimeSpan.Zero,
        };
    }
}
