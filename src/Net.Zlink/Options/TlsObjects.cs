using System.Net.Security;
using System.Security.Cryptography.X509Certificates;

namespace Net.Zlink;

/// <summary>
/// The options of tls and wss endpoints that are objects. They are set like any other: <c>options.Tls.Certificate = certificate</c>.
/// </summary>
/// <remarks>
/// They are extensions because configuration cannot name objects, and binding would otherwise read every property of a certificate.
/// </remarks>
public static class TlsObjects
{
    extension(TlsOptions options)
    {
        /// <summary>
        /// This side's certificate with its private key. It takes precedence over the files. Null (default): the files. For endpoints made
        /// afterwards.
        /// </summary>
        public X509Certificate2? Certificate
        {
            get => options.OwnCertificate;
            set => options.OwnCertificate = value;
        }

        /// <summary>
        /// The allowed cipher suites, if the system supports a choice (not on Windows). Null (default): the system's. For endpoints made
        /// afterwards.
        /// </summary>
        public CipherSuitesPolicy? CipherSuites
        {
            get => options.Suites;
            set => options.Suites = value;
        }

        /// <summary>
        /// How certificate chains are built and checked. Null (default): without revocation checks and downloads, because a download would
        /// delay a handshake by a foreign server. For endpoints made afterwards.
        /// </summary>
        /// <remarks>
        /// Each handshake uses a copy. With <see cref="TlsOptions.CaFile"/>, or without <see cref="TlsOptions.TrustSystem"/>, its TrustMode
        /// becomes CustomRootTrust, and the file's authorities are added to its CustomTrustStore. The rest is unchanged: a new policy
        /// allows downloads and checks revocation online, and VerificationFlags may accept untrusted certificates. The peer's certificate
        /// names the download address. Only its own connection waits for it, but your process connects there.
        /// </remarks>
        public X509ChainPolicy? ChainPolicy
        {
            get => options.Policy;
            set => options.Policy = value;
        }

        /// <summary>
        /// Used for accepted connections instead of the options above, except <see cref="TlsOptions.CaFile"/> and
        /// <see cref="TlsOptions.TrustSystem"/>. Null (default): the options above. For endpoints made afterwards.
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
        public SslServerAuthenticationOptions? Server
        {
            get => options.ServerOptions;
            set => options.ServerOptions = value;
        }

        /// <summary>
        /// Used for outgoing connections instead of the options above, except <see cref="TlsOptions.CaFile"/> and
        /// <see cref="TlsOptions.TrustSystem"/>. Null (default): the options above. For endpoints made afterwards.
        /// </summary>
        /// <remarks>
        /// As for <c>Server</c>. The context is ClientCertificateContext, which is completed once, unlike ClientCertificates. An empty
        /// TargetHost becomes <see cref="TlsOptions.HostName"/>, or the endpoint's host.
        /// </remarks>
        public SslClientAuthenticationOptions? Client
        {
            get => options.ClientOptions;
            set => options.ClientOptions = value;
        }
    }
}
