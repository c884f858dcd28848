using Net.Zlink.Sockets.Endpoints;

namespace Net.Zlink.Sockets;

internal sealed class StreamCounters : ConnectionCounters
{
    public long Closed;
    public long HandlerFaults;

    public long Peers;
    public long QueuedMessages;
    public long UnreadMessages;

    public long ReceivedMessages;
    public long ReceivedBytes;
    public long AcceptedMessages;
    public long AcceptedBytes;
    public long WrittenMessages;
    public long WrittenBytes;
    public long DroppedMessages;
    public long DroppedBytes;
    public long DroppedUnread;

    public void Add(StreamCounters other)
    {
        Accepted += Volatile.Read(ref other.Accepted);
        Dialled += Volatile.Read(ref other.Dialled);
        Refused += Volatile.Read(ref other.Refused);
        AcceptErrors += Volatile.Read(ref other.AcceptErrors);
        FailedHandshakes.Add(other.FailedHandshakes);
        Closed += other.Closed;
        HandlerFaults += Volatile.Read(ref other.HandlerFaults);
        Peers += other.Peers;
        QueuedMessages += other.QueuedMessages;
        UnreadMessages += other.UnreadMessages;
        ReceivedMessages += other.ReceivedMessages;
        ReceivedBytes += other.ReceivedBytes;
        AcceptedMessages += other.AcceptedMessages;
        AcceptedBytes += other.AcceptedBytes;
        WrittenMessages += other.WrittenMessages;
        WrittenBytes += other.WrittenBytes;
        DroppedMessages += other.DroppedMessages;
        DroppedBytes += other.DroppedBytes;
        DroppedUnread += other.DroppedUnread;
    }

    public void Close()
    {
        Peers = 0;
        QueuedMessages = 0;
        UnreadMessages = 0;
    }

    public void Add(in LinkCounts link)
    {
        QueuedMessages += link.Outbound.QueuedMessages;
        ReceivedMessages += link.ReceivedMessages;
        ReceivedBytes += link.ReceivedBytes;
        AcceptedMessages += link.Outbound.AcceptedMessages;
        AcceptedBytes += link.Outbound.AcceptedBytes;
        WrittenMessages += link.Outbound.WrittenMessages;
        WrittenBytes += link.Outbound.WrittenBytes;
        DroppedMessages += link.Outbound.DroppedMessages;
        DroppedBytes += link.Outbound.DroppedBytes;
    }
}
