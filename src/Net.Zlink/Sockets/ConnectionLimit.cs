namespace Net.Zlink.Sockets;

/// <summary>
/// Counts accepted connections that the socket has no session for yet, such as those in a TLS handshake. Guarded by its owner's lock.
/// </summary>
internal struct ConnectionLimit
{
    private int _count;

    /// <summary>Takes a slot until <see cref="Release"/>.</summary>
    /// <param name="connections">The present connections.</param>
    /// <param name="limit">The limit for both directions. 0: none.</param>
    /// <returns>Null, or why there is no slot.</returns>
    public string? Acquire(int connections, int limit)
    {
        // Checked and taken in one step: two listeners may accept at the same time.
        if (limit > 0 && connections + _count >= limit)
        {
            return $"the socket has its {limit} connections; raise MaxConnections to take more";
        }

        _count++;
        return null;
    }

    /// <summary>The connection has its session, or has failed.</summary>
    public void Release() => _count--;
}
