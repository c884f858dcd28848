using System.Net.Security;
using System.Security.Cryptography.X509Certificates;

namespace Net.Zlink;

/// <summary>The options of tls and wss endpoints that are objects. They are set like any other: <c>options.Tls.Certificate =
/// certificate</c>.</summary>
/// <remarks>They are extensions so that configuration is bound without them: a text cannot name them, and binding would otherwise look into
/// every property of a certificate.</remarks>
public static class TlsObjects
{
    /// <param name="options">The options.</param>
    extension(TlsOptions options)
    {
        /// <summary>This side's certificate with its private key; goes before the files. Null (default): the files. For endpoints made
        /// afterwards.</summary>
        public X509Certificate2? Certificate
        {
            get => options.OwnCertificate;
            set => options.OwnCertificate = value;
        }

        /// <summary>Cipher suites to speak, where the system lets one choose (not on Windows). Null (default): the system's. For endpoints
        /// made afterwards.</summary>
        public CipherSuitesPolicy? CipherSuites
        {
            get => options.Suites;
            set => options.Suites = value;
        }

        /// <summary>How certificate chains are built and checked. Null (default): without revocation checks, and without downloads, which
        /// would hold a handshake up for as long as somebody else's server likes. For endpoints made afterwards.</summary>
        /// <remarks>
        /// A copy is used, for each handshake. With <see cref="TlsOptions.CaFile"/>, or without <see cref="TlsOptions.TrustSystem"/>, its
        /// TrustMode becomes CustomRootTrust, and the file's authorities join those in its CustomTrustStore. All else is taken as it is:
        /// the defaults of a new policy allow downloads and ask for revocation online, and VerificationFlags may let in what nobody trusts.
        /// A peer's certificate says where to download from: only its own connection waits for that (as for callbacks), but your process
        /// connects to whom the peer names.
        /// </remarks>
        public X509ChainPolicy? ChainPolicy
        {
            get => options.Policy;
            set => options.Policy = value;
        }

        /// <summary>Used for connections that this side takes, instead of all of the above but <see cref="TlsOptions.CaFile"/> and
        /// <see cref="TlsOptions.TrustSystem"/>. Null (default): all of the above. For endpoints made afterwards.</summary>
        /// <remarks>
        /// A copy is used, for each handshake. With CaFile, or without TrustSystem, its CertificateChainPolicy is treated like
        /// <c>ChainPolicy</c>; where it has none it gets one, with its CertificateRevocationCheckMode and without downloads. A
        /// ServerCertificateContext made with an SslCertificateTrust is the exception: while CaFile is empty and TrustSystem on, the base
        /// library judges by that, and downloads; give it a policy that does not. A
        /// ServerCertificate without a context is shown with the issuers that this machine has: none is downloaded. Where
        /// ClientCertificateRequired is set, set AllowTlsResume to false: a resumed session has lost the certificates between the client's
        /// and the authority's, and a client that needs them is refused when it comes again.
        /// </remarks>
        public SslServerAuthenticationOptions? Server
        {
            get => options.ServerOptions;
            set => options.ServerOptions = value;
        }

        /// <summary>Used for connections that this side makes, instead of all of the above but <see cref="TlsOptions.CaFile"/> and
        /// <see cref="TlsOptions.TrustSystem"/>. Null (default): all of the above. For endpoints made afterwards.</summary>
        /// <remarks>As with <c>Server</c>; here the context is ClientCertificateContext, which, unlike ClientCertificates, is completed
        /// once and not in each handshake. While its TargetHost is null or empty it is <see cref="TlsOptions.HostName"/>, or the endpoint's
        /// host.</remarks>
        public SslClientAuthenticationOptions? Client
        {
            get => options.ClientOptions;
            set => options.ClientOptions = value;
        }
    }
}
