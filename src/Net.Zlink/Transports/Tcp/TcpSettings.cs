namespace Net.Zlink.Transports.Tcp;

/// <summary>What a tcp listener or dialer asks of its sockets. -1 leaves the operating system's default, without a system call.</summary>
internal sealed record TcpSettings : SocketSettings
{
    /// <summary>Small frames leave at once (TCP_NODELAY).</summary>
    public bool NoDelay { get; init; } = true;

    /// <summary>Listen on one dual-stack socket, and dial IPv6 addresses as well as IPv4 ones.</summary>
    public bool IPv6 { get; init; }

    /// <summary>Sockets that all ask for it may listen at one address; the kernel spreads connections among them (SO_REUSEPORT).</summary>
    public bool ShareAddress { get; init; }

    /// <summary>-1: the system's default, 0: off, 1: on.</summary>
    public int KeepAlive { get; init; } = -1;

    /// <summary>
    /// Probes without an answer until the connection is lost; used only when <see cref="KeepAlive"/> is 1, as are the next two.
    /// </summary>
    public int KeepAliveCount { get; init; } = -1;

    /// <summary>Seconds of silence before the first probe.</summary>
    public int KeepAliveIdleSeconds { get; init; } = -1;

    /// <summary>Seconds between probes.</summary>
    public int KeepAliveIntervalSeconds { get; init; } = -1;

    /// <summary>The IPv4 type of service and the IPv6 traffic class of what is sent, 0..255; 0 leaves it alone.</summary>
    public int TypeOfService { get; init; }

    /// <summary>How long sent bytes may stay unacknowledged; zero leaves it alone.</summary>
    public TimeSpan MaxUnacknowledged { get; init; }

    /// <summary>IFNAMSIZ of Linux is 16, its closing zero included.</summary>
    public const int LongestDevice = 15;

    /// <summary>The network interface to use; empty leaves it to the system's routes.</summary>
    public string Device { get; init; } = "";
}
