using System.Net.Security;
using System.Security.Authentication;
using System.Security.Cryptography.X509Certificates;
using Net.Zlink.Transports.Tls;

namespace Net.Zlink;

/// <summary>
/// Options of tls and wss endpoints: PEM files, as in the native core, or objects (<see cref="TlsObjects"/>). TLS 1.2 (the native core's
/// only version) and 1.3 are supported. Changed files are used by later connections without a restart.
/// </summary>
/// <remarks>
/// Not thread-safe. Certificates, policies and callbacks belong to the caller, and must stay valid and unchanged as long as the endpoints.
/// Each callback runs on a thread of its own and may block: only its own connection waits.
/// </remarks>
public sealed class TlsOptions
{
    private const string Emptied = "an empty text is none";

    /// <summary>
    /// A PEM file with this side's certificate, followed by its issuers' certificates. A listener needs one; a client sends it if the
    /// server asks. Empty (default): none. For endpoints made afterwards.
    /// </summary>
    public string CertificateFile { get; set => field = OptionRange.NotNull(value, Emptied); } = "";

    /// <summary>
    /// A PEM file with the private key: PRIVATE KEY, ENCRYPTED PRIVATE KEY, RSA PRIVATE KEY or EC PRIVATE KEY. Empty (default): it is in
    /// <see cref="CertificateFile"/>. For endpoints made afterwards.
    /// </summary>
    public string KeyFile { get; set => field = OptionRange.NotNull(value, Emptied); } = "";

    /// <summary>The private key's password. Ignored for a key without one. Empty (default): none. For endpoints made afterwards.</summary>
    public string KeyPassword { get; set => field = OptionRange.NotNull(value, Emptied); } = "";

    /// <summary>
    /// A PEM file with the only trusted authorities, together with the CustomTrustStore of
    /// <see cref="TlsObjects.extension(TlsOptions).ChainPolicy"/>. Empty (default): see <see cref="TrustSystem"/>. It also applies with
    /// <see cref="TlsObjects.extension(TlsOptions).ChainPolicy"/>, <see cref="TlsObjects.extension(TlsOptions).Server"/> and
    /// <see cref="TlsObjects.extension(TlsOptions).Client"/>. A <see cref="Validation"/> callback gets the result and decides. For
    /// endpoints made afterwards.
    /// </summary>
    public string CaFile { get; set => field = OptionRange.NotNull(value, Emptied); } = "";

    /// <summary>
    /// Trust the system's authorities while <see cref="CaFile"/> is empty. Default true. False without a file trusts only the
    /// CustomTrustStore of <see cref="TlsObjects.extension(TlsOptions).ChainPolicy"/>. It also applies with
    /// <see cref="TlsObjects.extension(TlsOptions).ChainPolicy"/>, <see cref="TlsObjects.extension(TlsOptions).Server"/> and
    /// <see cref="TlsObjects.extension(TlsOptions).Client"/>. For endpoints made afterwards.
    /// </summary>
    public bool TrustSystem { get; set; } = true;

    /// <summary>
    /// Outgoing connections accept only certificates that are valid, trusted and have the right name. Default true. If false, anyone
    /// between the two sides can read and change everything. For endpoints made afterwards.
    /// </summary>
    public bool VerifyPeer { get; set; } = true;

    /// <summary>Accept only clients with a valid and trusted certificate. Default false. For endpoints made afterwards.</summary>
    /// <remarks>Their handshakes are then never resumed: a resumed session has lost the intermediate certificates.</remarks>
    public bool RequireClientCertificate { get; set; }

    /// <summary>
    /// The server name to send (SNI) and to check the certificate against. Empty (default): the endpoint's host. An IP address is checked
    /// but not sent (RFC 6066, 3): a server with several certificates then uses its default one. For endpoints made afterwards.
    /// </summary>
    public string HostName { get; set => field = OptionRange.NotNull(value, Emptied); } = "";

    /// <summary>The allowed versions. None (default): the system's, usually 1.2 and 1.3. For endpoints made afterwards.</summary>
    public SslProtocols Protocols { get; set; }

    /// <summary>
    /// Decides about every certificate of a peer instead of this library. It gets the base library's result. Null (default): this library
    /// decides. For endpoints made afterwards.
    /// </summary>
    /// <remarks>
    /// The certificate is null if the peer was asked for one and sent none. Clients are asked only with
    /// <see cref="RequireClientCertificate"/>.
    /// </remarks>
    public RemoteCertificateValidationCallback? Validation { get; set; }

    /// <summary>Makes options for mutual TLS, for a socket that binds and for one that connects: each shows its certificate, and accepts
    /// only peers whose certificate an authority of the file has issued.</summary>
    /// <param name="caFile"><see cref="CaFile"/>.</param>
    /// <param name="certificateFile"><see cref="CertificateFile"/>.</param>
    /// <param name="keyFile"><see cref="KeyFile"/>.</param>
    /// <returns>New options, with <see cref="RequireClientCertificate"/>.</returns>
    /// <exception cref="ArgumentException">A name is null, or one of the first two is empty.</exception>
    public static TlsOptions Mutual(string caFile, string certificateFile, string keyFile = "")
    {
        ArgumentException.ThrowIfNullOrEmpty(caFile);
        ArgumentException.ThrowIfNullOrEmpty(certificateFile);
        return new TlsOptions { CaFile = caFile, CertificateFile = certificateFile, KeyFile = keyFile, RequireClientCertificate = true };
    }

    internal X509Certificate2? OwnCertificate;
    internal CipherSuitesPolicy? Suites;
    internal X509ChainPolicy? Policy;
    internal SslServerAuthenticationOptions? ServerOptions;
    internal SslClientAuthenticationOptions? ClientOptions;

    internal TlsOptions Copy() => (TlsOptions)MemberwiseClone();

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
