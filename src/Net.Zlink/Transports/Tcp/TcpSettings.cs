namespace Net.Zlink.Transports.Tcp;

/// <summary>What a tcp listener or dialer asks of its sockets. -1 leaves the operating system's default, without a system call.</summary>
internal sealed record TcpSettings
{
    /// <summary>Small frames leave at once (TCP_NODELAY).</summary>
    public bool NoDelay { get; init; } = true;

    /// <summary>SO_SNDBUF in bytes, or -1.</summary>
    public int SendBufferSize { get; init; } = -1;

    /// <summary>SO_RCVBUF in bytes, or -1.</summary>
    public int ReceiveBufferSize { get; init; } = -1;

    /// <summary>
    /// Connections that may wait to be accepted; the system caps it (Linux: net.core.somaxconn). 65536 is the native STREAM default.
    /// </summary>
    public int Backlog { get; init; } = 65536;

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

    /// <summary>How long one dial may take, all addresses of a name together; zero leaves it to the system (minutes).</summary>
    public TimeSpan ConnectTimeout { get; init; }

    /// <summary>The IPv4 type of service and the IPv6 traffic class of what is sent, 0..255; 0 leaves it alone.</summary>
    public int TypeOfService { get; init; }
}
