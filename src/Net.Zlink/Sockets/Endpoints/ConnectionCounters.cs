using Net.Zlink.Monitoring;

namespace Net.Zlink.Sockets.Endpoints;

/// <summary>What ZMP and STREAM count of their connections alike.</summary>
internal abstract class ConnectionCounters
{
    public long Accepted;
    public long Dialled;
    public long Refused;
    public long AcceptErrors;

    public FailedHandshakes FailedHandshakes { get; } = new();
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
