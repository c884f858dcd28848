using Net.Zlink.Engine;
using Net.Zlink.Sockets;
using Net.Zlink.Sockets.Endpoints;
using Net.Zlink.Sockets.Links;

namespace Net.Zlink;

internal sealed class SocketSums
{
    private readonly FailedHandshakes _failedHandshakes = new();
    private OutboundCounts _outbound;
    private LaneCounts _inbound;
    private int _peers;
    private long _accepted;
    private long _dialled;
    private long _refused;
    private long _droppedAtHighWaterMark;
    private long _droppedAtByteLimit;
    private long _droppedAtContextLimit;
    private long _droppedUnroutable;
    private long _unmatched;

    public int Sockets { get; private set; }

    public long AcceptedBytes => _outbound.AcceptedBytes;

    public void Add(SocketCounters counters, int peers)
    {
        Sockets++;
        _peers += peers;
        counters.AddTo(ref _outbound, ref _inbound);
        _failedHandshakes.Add(counters.FailedHandshakes);
        _accepted += Volatile.Read(ref counters.Accepted);
        _dialled += Volatile.Read(ref counters.Dialled);
        _refused += Volatile.Read(ref counters.Refused);
        _droppedAtHighWaterMark += Volatile.Read(ref counters.DroppedAtHighWaterMark);
        _droppedAtByteLimit += Volatile.Read(ref counters.DroppedAtByteLimit);
        _droppedAtContextLimit += Volatile.Read(ref counters.DroppedAtContextLimit);
        _droppedUnroutable += Volatile.Read(ref counters.DroppedUnroutable);
        _unmatched += Volatile.Read(ref counters.Unmatched);
    }

    public void Add(SocketSums other)
    {
        Sockets += other.Sockets;
        _peers += other._peers;
        SocketCounters.Sum(ref _outbound, other._outbound);
        SocketCounters.Sum(ref _inbound, other._inbound);
        _failedHandshakes.Add(other._failedHandshakes);
        _accepted += other._accepted;
        _dialled += other._dialled;
        _refused += other._refused;
        _droppedAtHighWaterMark += other._droppedAtHighWaterMark;
        _droppedAtByteLimit += other._droppedAtByteLimit;
        _droppedAtContextLimit += other._droppedAtContextLimit;
        _droppedUnroutable += other._droppedUnroutable;
        _unmatched += other._unmatched;
    }

    public void Close()
    {
        Sockets = 0;
        _peers = 0;
        _outbound.QueuedMessages = 0;
        _inbound.QueuedMessages = 0;
    }

    public SocketStatistics ToStatistics() => new()
    {
        Peers = _peers,
        AcceptedConnections = _accepted,
        DialledConnections = _dialled,
        RefusedConnections = _refused,
        HandshakeFailures = HandshakeFailureCounts.Of(_failedHandshakes),
        AcceptedMessages = _outbound.AcceptedMessages,
        WrittenMessages = _outbound.WrittenMessages,
        WrittenBytes = _outbound.WrittenBytes,
        QueuedMessages = _outbound.QueuedMessages,
        DroppedMessages = _outbound.DroppedMessages,
        UnconfirmedMessages = _outbound.UnconfirmedMessages,
        ObsoleteMessages = _outbound.ObsoleteMessages,
        DroppedAtHighWaterMark = _droppedAtHighWaterMark,
        DroppedAtByteLimit = _droppedAtByteLimit,
        DroppedAtContextLimit = _droppedAtContextLimit,
        DroppedUnroutable = _droppedUnroutable,
        UnmatchedMessages = _unmatched,
        ReceivedMessages = _inbound.Received,
        ReceivedBytes = _inbound.ReceivedBytes,
        DeliveredMessages = _inbound.Delivered,
        UnreadMessages = _inbound.QueuedMessages,
        DroppedUnreadMessages = _inbound.Dropped,
        FilteredMessages = _inbound.Filtered,
    };
}
