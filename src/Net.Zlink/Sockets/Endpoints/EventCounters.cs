using Net.Zlink.Monitoring;

namespace Net.Zlink.Sockets.Endpoints;

/// <summary>How often something happened to a socket, or to several.</summary>
internal class EventCounters
{
    public long Accepted;
    public long Dialled;
    public long Refused;
    public long AcceptErrors;
    public long Closed;
    public long HandlerFaults;
    public long DroppedAtHighWaterMark;
    public long DroppedAtByteLimit;
    public long DroppedAtContextLimit;
    public long DroppedUnroutable;
    public long Unmatched;

    public FailedHandshakes FailedHandshakes { get; } = new();

    public void Add(EventCounters other)
    {
        Accepted += Volatile.Read(ref other.Accepted);
        Dialled += Volatile.Read(ref other.Dialled);
        Refused += Volatile.Read(ref other.Refused);
        AcceptErrors += Volatile.Read(ref other.AcceptErrors);
        Closed += Volatile.Read(ref other.Closed);
        HandlerFaults += Volatile.Read(ref other.HandlerFaults);
        DroppedAtHighWaterMark += Volatile.Read(ref other.DroppedAtHighWaterMark);
        DroppedAtByteLimit += Volatile.Read(ref other.DroppedAtByteLimit);
        DroppedAtContextLimit += Volatile.Read(ref other.DroppedAtContextLimit);
        DroppedUnroutable += Volatile.Read(ref other.DroppedUnroutable);
        Unmatched += Volatile.Read(ref other.Unmatched);
        FailedHandshakes.Add(other.FailedHandshakes);
    }
}

internal sealed class FailedHandshakes
{
    private readonly long[] _byCause = new long[Enum.GetValues<HandshakeFailure>().Length];

    public long this[HandshakeFailure cause] => Volatile.Read(ref _byCause[(int)cause]);

    public void Count(HandshakeFailure cause) => Interlocked.Increment(ref _byCause[(int)cause]);

    public void Add(FailedHandshakes other)
    {
        for (int i = 0; i < _byCause.Length; i++)
        {
            _byCause[i] += Volatile.Read(ref other._byCause[i]);
        }
    }
}

/// <summary>Counts accepted connections that the socket has no session for yet, such as those in a TLS handshake.</summary>
internal struct ConnectionLimit
{
    private int _count;

    public string? Acquire(int connections, int limit)
    {
        // Checked and taken in one step: two listeners may accept at the same time.
        if (limit > 0 && connections + _count >= limit)
        {
            return $"the socket already has {limit} connections, the maximum; raise MaxConnections to accept more";
        }

        _count++;
        return null;
    }

    public void Release() => _count--;
}
