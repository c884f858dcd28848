using System.Net.Security;
using System.Security.Authentication;
using System.Security.Cryptography.X509Certificates;

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

internal sealed record TlsSettings
{
    public string CertificateFile { get; init; } = "";

    public string KeyFile { get; init; } = "";

    public string KeyPassword { get; init; } = "";

    public X509Certificate2? Certificate { get; init; }

    public string CaFile { get; init; } = "";

    public bool TrustSystem { get; init; } = true;

    public bool VerifyPeer { get; init; } = true;

    public bool RequireClientCertificate { get; init; }

    public string HostName { get; init; } = "";

    public SslProtocols Protocols { get; init; }

    public CipherSuitesPolicy? CipherSuites { get; init; }

    public X509ChainPolicy? ChainPolicy { get; init; }

    public RemoteCertificateValidationCallback? Validation { get; init; }

    public SslServerAuthenticationOptions? Server { get; init; }

    public SslClientAuthenticationOptions? Client { get; init; }
}
