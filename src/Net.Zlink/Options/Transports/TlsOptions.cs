using System.Net.Security;
using System.Security.Authentication;
using System.Security.Cryptography.X509Certificates;

namespace Net.Zlink;

/// <summary>
/// Options of tls and wss endpoints: PEM files, as in the native core, or objects. TLS 1.2 (the native core's
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
    /// <see cref="ChainPolicy"/>. Empty (default): see <see cref="TrustSystem"/>. It also applies with
    /// <see cref="ChainPolicy"/>, <see cref="Server"/> and
    /// <see cref="Client"/>. A <see cref="Validation"/> callback gets the result and decides. For
    /// endpoints made afterwards.
    /// </summary>
    public string CaFile { get; set => field = OptionRange.NotNull(value, Emptied); } = "";

    /// <summary>
    /// Trust the system's authorities while <see cref="CaFile"/> is empty. Default true. False without a file trusts only the
    /// CustomTrustStore of <see cref="ChainPolicy"/>. It also applies with
    /// <see cref="ChainPolicy"/>, <see cref="Server"/> and
    /// <see cref="Client"/>. For endpoints made afterwards.
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

    // Configuration cannot name objects. The binder reads properties only, and would read and make every object of a certificate.
#pragma warning disable CA1051
    /// <summary>
    /// This side's certificate with its private key. It takes precedence over the files. Null (default): the files. For endpoints made
    /// afterwards.
    /// </summary>
    public X509Certificate2? Certificate;

    /// <summary>
    /// The allowed cipher suites, if the system supports a choice (not on Windows). Null (default): the system's. For endpoints made
    /// afterwards.
    /// </summary>
    public CipherSuitesPolicy? CipherSuites;

    /// <summary>
    /// How certificate chains are built and checked. Null (default): without revocation checks and downloads, because a download would
    /// delay a handshake by a foreign server. For endpoints made afterwards.
    /// </summary>
    /// <remarks>
    /// Each handshake uses a copy. With <see cref="CaFile"/>, or without <see cref="TrustSystem"/>, its TrustMode
    /// becomes CustomRootTrust, and the file's authorities are added to its CustomTrustStore. The rest is unchanged: a new policy
    /// allows downloads and checks revocation online, and VerificationFlags may accept untrusted certificates. The peer's certificate
    /// names the download address. Only its own connection waits for it, but your process connects there.
    /// </remarks>
    public X509ChainPolicy? ChainPolicy;

    /// <summary>
    /// Used for accepted connections instead of the options above, except <see cref="CaFile"/> and <see cref="TrustSystem"/>.
    /// Null (default): the options above. For endpoints made afterwards.
    /// </summary>
    /// <remarks>
    /// <para>
    /// Each handshake uses a copy. With CaFile, or without TrustSystem, its CertificateChainPolicy is treated like <c>ChainPolicy</c>.
    /// If it has none, it gets one with its CertificateRevocationCheckMode and without downloads.
    /// </para>
    /// <para>
    /// Exception: a ServerCertificateContext with an SslCertificateTrust, while CaFile is empty and TrustSystem is true. The base
    /// library then decides, with downloads, unless its policy forbids them.
    /// </para>
    /// <para>
    /// A ServerCertificate without a context is sent with the issuers that this machine has. With ClientCertificateRequired set
    /// AllowTlsResume to false: a resumed session has lost the intermediate certificates, and a returning client that needs them is
    /// refused.
    /// </para>
    /// </remarks>
    public SslServerAuthenticationOptions? Server;

    /// <summary>
    /// Used for outgoing connections instead of the options above, except <see cref="CaFile"/> and <see cref="TrustSystem"/>.
    /// Null (default): the options above. For endpoints made afterwards.
    /// </summary>
    /// <remarks>
    /// As for <c>Server</c>. The context is ClientCertificateContext, which is completed once, unlike ClientCertificates. An empty
    /// TargetHost becomes <see cref="HostName"/>, or the endpoint's host.
    /// </remarks>
    public SslClientAuthenticationOptions? Client;
#pragma warning restore CA1051

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

    internal TlsOptions Copy() => (TlsOptions)MemberwiseClone();
}
