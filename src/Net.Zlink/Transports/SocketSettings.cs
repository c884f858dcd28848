namespace Net.Zlink.Transports;

/// <summary>What every transport asks of its sockets. -1 leaves the operating system's default, without a system call.</summary>
internal record SocketSettings
{
    /// <summary>SO_SNDBUF in bytes, or -1.</summary>
    public int SendBufferSize { get; init; } = -1;

    /// <summary>SO_RCVBUF in bytes, or -1.</summary>
    public int ReceiveBufferSize { get; init; } = -1;

    /// <summary>
    /// Connections that may wait to be accepted; the system caps it (Linux: net.core.somaxconn). 65536 is the native STREAM default.
    /// </summary>
    public int Backlog { get; init; } = 65536;

    /// <summary>How long one dial may take, all addresses of a name together; zero leaves it to the system (minutes).</summary>
    public TimeSpan ConnectTimeout { get; init; }
}
