using System.Net.Security;
using System.Security.Cryptography.X509Certificates;

namespace Net.Zlink.Transports.Tls;

/// <summary>Copies of the options that an application made itself, for one handshake: its own objects are left as they are.</summary>
/// <remarks>The base library offers no copy. A property that a later version brings is missing here until it is added; a test
/// tells.</remarks>
internal static class ApplicationOptions
{
    /// <summary>As they are, but for the callbacks, which get a thread of their own.</summary>
    /// <param name="users">The application's.</param>
    /// <param name="policy">How chains are judged.</param>
    /// <param name="shown">What is shown; null: what the base library makes of the certificate.</param>
    public static SslServerAuthenticationOptions Copy(
        SslServerAuthenticationOptions users, X509ChainPolicy? policy, SslStreamCertificateContext? shown)
    {
        var copy = new SslServerAuthenticationOptions
        {
            AllowRenegotiation = users.AllowRenegotiation,
            AllowTlsResume = users.AllowTlsResume,
            ApplicationProtocols = users.ApplicationProtocols,
            CertificateChainPolicy = policy,
            CertificateRevocationCheckMode = users.CertificateRevocationCheckMode,
            CipherSuitesPolicy = users.CipherSuitesPolicy,
            ClientCertificateRequired = users.ClientCertificateRequired,
            EnabledSslProtocols = users.EnabledSslProtocols,
            EncryptionPolicy = users.EncryptionPolicy,
            RemoteCertificateValidationCallback = Beside(users.RemoteCertificateValidationCallback),
            ServerCertificate = users.ServerCertificate,
            ServerCertificateContext = shown,
            ServerCertificateSelectionCallback = users.ServerCertificateSelectionCallback is { } choice
                ? (sender, name) => CallbackThread.Run(() => choice(sender, name)) : null,
        };
        if (OperatingSystem.IsLinux() || OperatingSystem.IsWindows())
        {
            copy.AllowRsaPkcs1Padding = users.AllowRsaPkcs1Padding; // Elsewhere nobody can have set them.
            copy.AllowRsaPssPadding = users.AllowRsaPssPadding;
        }

        return copy;
    }

    /// <summary>As they are, but for the callbacks, which get a thread of their own, and a name to ask for where there is none.</summary>
    /// <param name="users">The application's.</param>
    /// <param name="policy">How chains are judged.</param>
    /// <param name="host">The endpoint's name: without one the base library takes no certificate.</param>
    public static SslClientAuthenticationOptions Copy(SslClientAuthenticationOptions users, X509ChainPolicy? policy, string host)
    {
        var copy = new SslClientAuthenticationOptions
        {
            AllowRenegotiation = users.AllowRenegotiation,
            AllowTlsResume = users.AllowTlsResume,
            ApplicationProtocols = users.ApplicationProtocols,
            CertificateChainPolicy = policy,
            CertificateRevocationCheckMode = users.CertificateRevocationCheckMode,
            CipherSuitesPolicy = users.CipherSuitesPolicy,
            ClientCertificateContext = users.ClientCertificateContext,
            ClientCertificates = users.ClientCertificates,
            EnabledSslProtocols = users.EnabledSslProtocols,
            EncryptionPolicy = users.EncryptionPolicy,
            LocalCertificateSelectionCallback = users.LocalCertificateSelectionCallback is { } choice
                ? (sender, target, own, remote, issuers) => CallbackThread.Run(() => choice(sender, target, own, remote, issuers))
                : null,
            RemoteCertificateValidationCallback = Beside(users.RemoteCertificateValidationCallback),
            TargetHost = string.IsNullOrEmpty(users.TargetHost) ? host : users.TargetHost,
        };
        if (OperatingSystem.IsLinux() || OperatingSystem.IsWindows())
        {
            copy.AllowRsaPkcs1Padding = users.AllowRsaPkcs1Padding; // Elsewhere nobody can have set them.
            copy.AllowRsaPssPadding = users.AllowRsaPssPadding;
        }

        return copy;
    }

    private static RemoteCertificateValidationCallback? Beside(RemoteCertificateValidationCallback? check) =>
        check is null ? null : (sender, certificate, chain, errors) => CallbackThread.Run(() => check(sender, certificate, chain, errors));
}
