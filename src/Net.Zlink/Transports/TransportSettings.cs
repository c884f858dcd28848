using Net.Zlink.Transports.Tcp;
using Net.Zlink.Transports.Tls;
using Net.Zlink.Transports.WebSocket;

namespace Net.Zlink.Transports;

/// <summary>The settings of one endpoint, for whichever transport it turns out to be: each takes the part that is its own.</summary>
internal sealed record TransportSettings
{
    /// <summary>For the transports that run over tcp.</summary>
    public TcpSettings Tcp { get; init; } = new();

    /// <summary>For tls and wss.</summary>
    public TlsSettings Tls { get; init; } = new();

    /// <summary>For ws and wss.</summary>
    public WebSocketSettings WebSocket { get; init; } = new();

    /// <summary>How long each phase of a transport's own handshake may take: TLS, and the WebSocket upgrade. Zero: no limit.</summary>
    public TimeSpan HandshakeTimeout { get; init; }

    /// <summary>How long the peer's end is waited for after ours.</summary>
    public TimeSpan CloseTimeout { get; init; } = TimeSpan.FromSeconds(5);

    /// <summary>The part that every transport over a socket of the system has.</summary>
    public SocketSettings Socket => Tcp;
}
