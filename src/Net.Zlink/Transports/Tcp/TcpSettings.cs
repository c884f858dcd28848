namespace Net.Zlink.Transports.Tcp;

/// <summary>Socket settings of tcp. -1: the system's default, without a system call.</summary>
internal sealed record TcpSettings : SocketSettings
{
    public bool NoDelay { get; init; } = true;

    public bool IPv6 { get; init; }

    /// <summary>Sockets that all set it may listen at one address, and the kernel spreads connections (SO_REUSEPORT).</summary>
    public bool ShareAddress { get; init; }

    public int KeepAlive { get; init; } = -1;

    public int KeepAliveCount { get; init; } = -1;

    public int KeepAliveIdleSeconds { get; init; } = -1;

    public int KeepAliveIntervalSeconds { get; init; } = -1;

    public int TypeOfService { get; init; }

    public TimeSpan MaxUnacknowledged { get; init; }

    public const int LongestDevice = 15;

    public string Device { get; init; } = "";
}
