using System.Net.Security;
using System.Security.Authentication;
using System.Security.Cryptography.X509Certificates;
using Net.Zlink.Transports.Tls;

namespace Net.Zlink;

/// <summary>
/// Options of tls and wss endpoints. Certificates come from PEM files, as in the native core, or as objects (<see cref="TlsObjects"/>).
/// Both TLS 1.2 (the native core's only version) and 1.3 are spoken. All of them reach endpoints made afterwards; files that change on disk
/// reach the connections made after the change, without a restart.
/// </summary>
/// <remarks>Not synchronised: set them from one thread at a time. Certificates, policies and callbacks stay the caller's, and must stay
/// usable and as they are as long as the endpoints. Callbacks run on a thread of their own each time, never on a shard: they may sleep, and
/// only their own connection waits.</remarks>
public sealed class TlsOptions
{
    private const string Emptied = "an empty text is none";

    /// <summary>PEM file with this side's certificate and, behind it, those of its issuers. Empty (default): none. A listener needs one; a
    /// client shows it if the server asks. For endpoints made afterwards.</summary>
    public string CertificateFile { get; set => field = OptionRange.NotNull(value, Emptied); } = "";

    /// <summary>PEM file with the certificate's private key: PRIVATE KEY, ENCRYPTED PRIVATE KEY, RSA PRIVATE KEY or EC PRIVATE KEY. Empty
    /// (default): it is in <see cref="CertificateFile"/>. For endpoints made afterwards.</summary>
    public string KeyFile { get; set => field = OptionRange.NotNull(value, Emptied); } = "";

    /// <summary>The private key's password. Empty (default): it has none. One that a key without a password does not need is ignored. For
    /// endpoints made afterwards.</summary>
    public string KeyPassword { get; set => field = OptionRange.NotNull(value, Emptied); } = "";

    /// <summary>
    /// PEM file with the only authorities that peers' certificates may come from, together with those in the CustomTrustStore of
    /// <see cref="TlsObjects.extension(TlsOptions).ChainPolicy"/>, if there is one. Empty (default): see <see cref="TrustSystem"/>.
    /// It holds with <see cref="TlsObjects.extension(TlsOptions).ChainPolicy"/>, <see cref="TlsObjects.extension(TlsOptions).Server"/> and
    /// <see cref="TlsObjects.extension(TlsOptions).Client"/> as well. A callback (<see cref="Validation"/>) is told what these authorities
    /// make of a certificate, and decides. For endpoints made afterwards.
    /// </summary>
    public string CaFile { get; set => field = OptionRange.NotNull(value, Emptied); } = "";

    /// <summary>
    /// Trust the system's authorities while <see cref="CaFile"/> is empty. Default true. False without a file trusts nobody but the
    /// authorities in the CustomTrustStore of <see cref="TlsObjects.extension(TlsOptions).ChainPolicy"/>, if there is one. It holds with
    /// <see cref="TlsObjects.extension(TlsOptions).ChainPolicy"/>, <see cref="TlsObjects.extension(TlsOptions).Server"/> and
    /// <see cref="TlsObjects.extension(TlsOptions).Client"/> as well. For endpoints made afterwards.
    /// </summary>
    public bool TrustSystem { get; set; } = true;

    /// <summary>Connections that this side makes: accept only certificates that are valid, trusted and for the right name. Default true.
    /// Without it anybody on the way can read and change everything. For endpoints made afterwards.</summary>
    public bool VerifyPeer { get; set; } = true;

    /// <summary>Connections that this side takes: accept only clients with a certificate that is valid and trusted. Default false. For
    /// endpoints made afterwards.</summary>
    /// <remarks>Each of their handshakes is a whole one then: a resumed session would have lost the certificates between the client's and
    /// the authority's.</remarks>
    public bool RequireClientCertificate { get; set; }

    /// <summary>The name to ask the server for (SNI) and to check its certificate against. Empty (default): the endpoint's host. An IP
    /// address is only checked, and not sent as SNI (RFC 6066, 3): a server with several certificates shows its default one. For endpoints
    /// made afterwards.</summary>
    public string HostName { get; set => field = OptionRange.NotNull(value, Emptied); } = "";

    /// <summary>Versions to speak. None (default): what the system allows, 1.2 and 1.3 as a rule. For endpoints made afterwards.</summary>
    public SslProtocols Protocols { get; set; }

    /// <summary>Asked about every certificate that a peer shows, instead of this library's own judgement; it is told what the base library
    /// found. Null (default): our own judgement. For endpoints made afterwards.</summary>
    /// <remarks>A certificate is null where the peer was asked for one and showed none. Clients are asked for theirs with
    /// <see cref="RequireClientCertificate"/> only; without it nobody asks this check about them.</remarks>
    public RemoteCertificateValidationCallback? Validation { get; set; }

    // Behind the properties of TlsObjects.
    internal X509Certificate2? OwnCertificate;
    internal CipherSuitesPolicy? Suites;
    internal X509ChainPolicy? Policy;
    internal SslServerAuthenticationOptions? ServerOptions;
    internal SslClientAuthenticationOptions? ClientOptions;

    internal TlsSettings Snapshot() => new()
    {
        CertificateFile = CertificateFile,
        KeyFile = KeyFile,
        KeyPassword = KeyPassword,
        Certificate = OwnCertificate,
        CaFile = CaFile,
        TrustSystem = TrustSystem,
        VerifyPeer = VerifyPeer,
        RequireClientCertificate = RequireClientCertificate,
        HostName = HostName,
        Protocols = Protocols,
        CipherSuites = Suites,
        ChainPolicy = Policy,
        Validation = Validation,
        Server = ServerOptions,
        Client = ClientOptions,
    };
}
