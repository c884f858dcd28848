using Net.Zlink.Engine;
using Net.Zlink.Sockets;

namespace Net.Zlink;

/// <summary>A snapshot of one peer. Bytes include frame headers.</summary>
public sealed class PeerStatistics
{
    private readonly QueueCounts _outbound;
    private readonly QueueCounts _inbound;

    internal PeerStatistics(StreamLink link)
    {
        _outbound = link.Outbound;
        _inbound = link.Inbound;
        if (link.Connection is { } connection)
        {
            IsPaused = connection.IsPaused;
            SinceLastRead = connection.SinceLastRead;
            SinceLastWrite = connection.SinceLastWrite;
        }
    }

    /// <summary>Messages read from the peer.</summary>
    public long ReceivedMessages => _inbound.AcceptedMessages;

    /// <summary>Their bytes.</summary>
    public long ReceivedBytes => _inbound.AcceptedBytes;

    /// <summary>Messages read that wait to be received by the application.</summary>
    public long UnreadMessages => _inbound.QueuedMessages;

    /// <summary>Messages that Send accepted.</summary>
    public long AcceptedMessages => _outbound.AcceptedMessages;

    /// <summary>Messages written to the network.</summary>
    public long WrittenMessages => _outbound.TakenMessages;

    /// <summary>Their bytes.</summary>
    public long WrittenBytes => _outbound.TakenBytes;

    /// <summary>Messages that wait to be written. Accepted = written + queued + dropped.</summary>
    public long QueuedMessages => _outbound.QueuedMessages;

    /// <summary>Their bytes.</summary>
    public long QueuedBytes => _outbound.QueuedBytes;

    /// <summary>Accepted messages that were not written before the connection ended.</summary>
    public long DroppedMessages => _outbound.DroppedMessages;

    /// <summary>The peer is not read, because its messages are unread or its handler is busy.</summary>
    public bool IsPaused { get; }

    /// <summary>Time since the last read from it.</summary>
    public TimeSpan SinceLastRead { get; }

    /// <summary>Time since the last write to it.</summary>
    public TimeSpan SinceLastWrite { get; }
}
