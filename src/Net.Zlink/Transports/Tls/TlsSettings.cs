using System.Net.Security;
using System.Security.Authentication;
using System.Security.Cryptography.X509Certificates;

namespace Net.Zlink.Transports.Tls;

/// <summary>What an endpoint was told about TLS: a snapshot of the socket's options.</summary>
internal sealed record TlsSettings
{
    /// <summary>PEM file with the certificate and, behind it, those of its issuers; empty: none.</summary>
    public string CertificateFile { get; init; } = "";

    /// <summary>PEM file with its private key; empty: it is in the certificate's file.</summary>
    public string KeyFile { get; init; } = "";

    /// <summary>The key file's password; empty: it has none.</summary>
    public string KeyPassword { get; init; } = "";

    /// <summary>A certificate with its private key, instead of files. The user's to dispose.</summary>
    public X509Certificate2? Certificate { get; init; }

    /// <summary>PEM file with the only authorities to trust, but for those of a policy; empty: see <see cref="TrustSystem"/>.</summary>
    public string CaFile { get; init; } = "";

    /// <summary>Trust the system's authorities where <see cref="CaFile"/> is empty.</summary>
    public bool TrustSystem { get; init; } = true;

    /// <summary>Connections that this side makes: check the server's certificate.</summary>
    public bool VerifyPeer { get; init; } = true;

    /// <summary>Connections that this side takes: demand a certificate of the client, and check it.</summary>
    public bool RequireClientCertificate { get; init; }

    /// <summary>The name to ask for and to check; empty: the endpoint's host.</summary>
    public string HostName { get; init; } = "";

    /// <summary>None: the system's choice.</summary>
    public SslProtocols Protocols { get; init; }

    /// <summary>Null: the system's choice.</summary>
    public CipherSuitesPolicy? CipherSuites { get; init; }

    /// <summary>Null: no revocation checks, and nothing is downloaded while a chain is built.</summary>
    public X509ChainPolicy? ChainPolicy { get; init; }

    /// <summary>Asked instead of our own judgement.</summary>
    public RemoteCertificateValidationCallback? Validation { get; init; }

    /// <summary>Used instead of all of the above but the authorities, for connections that this side takes.</summary>
    public SslServerAuthenticationOptions? Server { get; init; }

    /// <summary>Used instead of all of the above but the authorities, for connections that this side makes.</summary>
    public SslClientAuthenticationOptions? Client { get; init; }
}
