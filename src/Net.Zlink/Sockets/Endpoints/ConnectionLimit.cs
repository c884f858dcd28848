namespace Net.Zlink.Sockets.Endpoints;

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
