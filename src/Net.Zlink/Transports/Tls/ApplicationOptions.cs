using System.Net.Security;
using System.Security.Cryptography.X509Certificates;

namespace Net.Zlink.Transports.Tls;

/// <summary>Copies an application's options for one handshake; its own objects stay unchanged.</summary>
/// <remarks>The base library has no copy. A new property of a later version is missing until it is added here; a test finds it.</remarks>
internal static class ApplicationOptions
{
    /// <summary>A copy whose callbacks run on a thread of their own.</summary>
    /// <param name="users">The application's options.</param>
    /// <param name="policy">The chain policy.</param>
    /// <param name="shown">The certificate to send. Null: the base library's choice.</param>
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
            copy.AllowRsaPkcs1Padding = users.AllowRsaPkcs1Padding; // Not supported on other systems.
            copy.AllowRsaPssPadding = users.AllowRsaPssPadding;
        }

        return copy;
    }

    /// <summary>A copy whose callbacks run on a thread of their own, with a host name if there is none.</summary>
    /// <param name="users">The application's options.</param>
    /// <param name="policy">The chain policy.</param>
    /// <param name="host">The endpoint's host: without one the base library accepts no certificate.</param>
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
            copy.AllowRsaPkcs1Padding = users.AllowRsaPkcs1Padding; // Not supported on other systems.
            copy.AllowRsaPssPadding = users.AllowRsaPssPadding;
        }

        return copy;
    }

    private static RemoteCertificateValidationCallback? Beside(RemoteCertificateValidationCallback? check) =>
        check is null ? null : (sender, certificate, chain, errors) => CallbackThread.Run(() => check(sender, certificate, chain, errors));
}
