using Net.Zlink.Transports.Tcp;
using Net.Zlink.Transports.Tls;
using Net.Zlink.Transports.WebSocket;

namespace Net.Zlink.Transports;

/// <summary>The settings of one endpoint of any transport. Each transport uses its part.</summary>
internal sealed record TransportSettings
{
    public TcpSettings Tcp { get; init; } = new();

    public TlsSettings Tls { get; init; } = new();

    public WebSocketSettings WebSocket { get; init; } = new();

    /// <summary>The time limit of each phase of a transport's handshake: TLS, and the WebSocket upgrade. Zero: no limit.</summary>
    public TimeSpan HandshakeTimeout { get; init; }

    /// <summary>How long the peer's end is awaited after ours.</summary>
    public TimeSpan CloseTimeout { get; init; } = TimeSpan.FromSeconds(5);

    public SocketSettings Socket => Tcp;
}
