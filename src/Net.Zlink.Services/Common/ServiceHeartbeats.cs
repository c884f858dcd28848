namespace Net.Zlink.Services;

/// <summary>The heartbeats of the sockets that connect to receivers and to publishers. They send no pings; the announced ttl lets them
/// drop a peer that is gone.</summary>
internal static class ServiceHeartbeats
{
    /// <summary>Of silence, before a heartbeat asks whether the peer is there.</summary>
    public static readonly TimeSpan Interval = TimeSpan.FromSeconds(1);

    /// <summary>Behind a heartbeat. With the interval a dead peer costs what goes to it in 4 s.</summary>
    public static readonly TimeSpan Timeout = TimeSpan.FromSeconds(3);

    /// <summary>Longer than pauses of a whole process, which a connection is to outlive.</summary>
    public static readonly TimeSpan Ttl = TimeSpan.FromSeconds(15);

    /// <summary>The values that the options of a service begin with.</summary>
    public static TOptions Defaults<TOptions>(TOptions socket)
        where TOptions : ZmpSocketOptions
    {
        socket.HeartbeatInterval = Interval;
        socket.HeartbeatTimeout = Timeout;
        socket.HeartbeatTtl = Ttl;
        socket.HeartbeatOnlyIfSilent = true;
        return socket;
    }

    /// <summary>The ttl follows the other two where the application set only them: it also limits how long this side waits.</summary>
    public static TOptions Completed<TOptions>(TOptions socket)
        where TOptions : ZmpSocketOptions
    {
        if (socket.HeartbeatTtl == Ttl)
        {
            socket.HeartbeatTtl = socket.HeartbeatInterval == TimeSpan.Zero ? TimeSpan.Zero
                : socket.HeartbeatTimeout is { } timeout && timeout > Ttl ? timeout : Ttl;
        }

        return socket;
    }
}
