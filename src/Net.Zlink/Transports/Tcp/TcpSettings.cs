namespace Net.Zlink.Transports.Tcp;

/// <summary>Socket settings of tcp. -1: the system's default, without a system call.</summary>
internal sealed record TcpSettings : SocketSettings
{
    public bool NoDelay { get; init; } = true;

    /// <summary>Listen on one dual-stack socket, and dial IPv6 addresses too.</summary>
    public bool IPv6 { get; init; }

    /// <summary>Sockets that all set it may listen at one address, and the kernel spreads connections (SO_REUSEPORT).</summary>
    public bool ShareAddress { get; init; }

    /// <summary>-1: the system's default, 0: off, 1: on.</summary>
    public int KeepAlive { get; init; } = -1;

    /// <summary>Unanswered probes before the connection is lost. Used when <see cref="KeepAlive"/> is 1, as are the next two.</summary>
    public int KeepAliveCount { get; init; } = -1;

    public int KeepAliveIdleSeconds { get; init; } = -1;

    public int KeepAliveIntervalSeconds { get; init; } = -1;

    /// <summary>IPv4 type of service and IPv6 traffic class, 0..255. 0: unchanged.</summary>
    public int TypeOfService { get; init; }

    /// <summary>How long sent bytes may stay unacknowledged. Zero: unchanged.</summary>
    public TimeSpan MaxUnacknowledged { get; init; }

    /// <summary>Linux: IFNAMSIZ is 16 with the closing zero.</summary>
    public const int LongestDevice = 15;

    /// <summary>The network interface to use. Empty: the system's routes.</summary>
    public string Device { get; init; } = "";
}
