using System.Net.Security;
using System.Security.Cryptography.X509Certificates;

namespace Net.Zlink.Transports.Tls;

/// <summary>
/// Copies an application's options: the base library cannot. A new property of a later version is missing until it is added here; a test
/// finds it.
/// </summary>
internal static class ApplicationOptions
{
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
            copy.AllowRsaPkcs1Padding = users.AllowRsaPkcs1Padding;
            copy.AllowRsaPssPadding = users.AllowRsaPssPadding;
        }

        return copy;
    }

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
            copy.AllowRsaPkcs1Padding = users.AllowRsaPkcs1Padding;
            copy.AllowRsaPssPadding = users.AllowRsaPssPadding;
        }

        return copy;
    }

    private static RemoteCertificateValidationCallback? Beside(RemoteCertificateValidationCallback? check) =>
        check is null ? null : (sender, certificate, chain, errors) => CallbackThread.Run(() => check(sender, certificate, chain, errors));
}
