namespace Net.Zlink.Services;

/// <summary>The heartbeats of the sockets that connect to receivers and to publishers. These ping nobody; the announced ttl lets them
/// drop a peer that is gone.</summary>
internal static class ServiceHeartbeats
{
    /// <summary>Of silence, before a heartbeat asks whether the peer is there.</summary>
    public static readonly TimeSpan Interval = TimeSpan.FromSeconds(1);

    /// <summary>Behind a heartbeat. With the interval a dead peer costs what goes to it in 4 s.</summary>
    public static readonly TimeSpan Timeout = TimeSpan.FromSeconds(3);

    /// <summary>Longer than pauses of a whole process, which a connection is to outlive.</summary>
    public static readonly TimeSpan Ttl = TimeSpan.FromSeconds(15);

    /// <summary>For the host's Development environment: a debugger stops a process for longer than a network does.</summary>
    public static readonly TimeSpan DevelopmentTimeout = TimeSpan.FromMinutes(5);

    /// <param name="socket">The options of the socket, before the user's own.</param>
    /// <param name="interval">Zero: no heartbeats.</param>
    /// <param name="timeout">Null: the default.</param>
    /// <param name="ttl">Null: the default, or the timeout where that is longer.</param>
    public static void Apply(ZmpSocketOptions socket, TimeSpan interval, TimeSpan? timeout = null, TimeSpan? ttl = null)
    {
        if (interval > TimeSpan.Zero)
        {
            socket.HeartbeatInterval = interval;
            socket.HeartbeatTimeout = timeout ?? Timeout;
            socket.HeartbeatTtl = ttl ?? (timeout > Ttl ? timeout.Value : Ttl);
            socket.HeartbeatOnlyIfSilent = true;
        }
    }
}
