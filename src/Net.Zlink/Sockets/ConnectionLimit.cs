namespace Net.Zlink.Sockets;

/// <summary>The places that are taken for accepted connections which are not among a socket's yet: in their transport's own handshake, for
/// one. A part of its owner, under the lock that guards its connections.</summary>
internal struct ConnectionLimit
{
    private int _count;

    /// <summary>Takes one, until <see cref="Release"/>.</summary>
    /// <param name="connections">How many connections there are.</param>
    /// <param name="limit">How many there may be, in both directions; 0: any number.</param>
    /// <returns>Null, or why there is none left.</returns>
    public string? Acquire(int connections, int limit)
    {
        // Looked at and taken in one step: two listeners may accept at once.
        if (limit > 0 && connections + _count >= limit)
        {
            return $"the socket has its {limit} connections; raise MaxConnections to take more";
        }

        _count++;
        return null;
    }

    /// <summary>The connection is among the others now, or none has come of it.</summary>
    public void Release() => _count--;
}
