using Net.Zlink.Transports.Tcp;
using Net.Zlink.Transports.Tls;
using Net.Zlink.Transports.WebSocket;

namespace Net.Zlink.Transports;

internal sealed record TransportSettings
{
    public TcpSettings Tcp { get; init; } = new();

    public TlsSettings Tls { get; init; } = new();

    public WebSocketSettings WebSocket { get; init; } = new();

    public TimeSpan HandshakeTimeout { get; init; }

    public TimeSpan CloseTimeout { get; init; } = TimeSpan.FromSeconds(5);

    public SocketSettings Socket => Tcp;
}
