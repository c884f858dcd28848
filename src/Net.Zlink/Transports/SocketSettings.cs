namespace Net.Zlink.Transports;

/// <summary>Socket settings of every transport. -1: the system's default, without a system call.</summary>
internal record SocketSettings
{
    public int SendBufferSize { get; init; } = -1;

    public int ReceiveBufferSize { get; init; } = -1;

    /// <summary>65536 is the native STREAM default.</summary>
    public int Backlog { get; init; } = 65536;

    /// <summary>The time limit of one dial, with all addresses of a name.</summary>
    public TimeSpan ConnectTimeout { get; init; }
}
