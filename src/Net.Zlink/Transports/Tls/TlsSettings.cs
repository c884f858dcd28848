using System.Net.Security;
using System.Security.Authentication;
using System.Security.Cryptography.X509Certificates;

namespace Net.Zlink.Transports.Tls;

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
