using System.Net.Sockets;

namespace Net.Zlink.Transports;

internal sealed record TransportSettings
{
    public TcpSettings Tcp { get; init; } = new();

    public TlsOptions Tls { get; init; } = new();

    public WebSocketTransportOptions WebSocket { get; init; } = new();

    public TimeSpan HandshakeTimeout { get; init; }

    public TimeSpan CloseTimeout { get; init; } = TimeSpan.FromSeconds(5);

    public SocketSettings Socket => Tcp;
}

/// <summary>Socket settings of tcp. -1: the system's default, without a system call.</summary>
internal sealed record TcpSettings : SocketSettings
{
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

/// <summary>Socket settings of every transport. -1: the system's default, without a system call.</summary>
internal record SocketSettings
{
    public int SendBufferSize { get; init; } = -1;

    public int ReceiveBufferSize { get; init; } = -1;

    /// <summary>65536 is the native STREAM default.</summary>
    public int Backlog { get; init; } = 65536;

    /// <summary>The time limit of one dial, with all addresses of a name.</summary>
    public TimeSpan ConnectTimeout { get; init; }

    public void SetBuffersOf(Socket socket)
    {
        if (SendBufferSize >= 0)
        {
            socket.SendBufferSize = SendBufferSize;
        }

        if (ReceiveBufferSize >= 0)
        {
            socket.ReceiveBufferSize = ReceiveBufferSize;
        }
    }
}
