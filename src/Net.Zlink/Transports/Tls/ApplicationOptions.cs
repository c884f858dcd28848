using System.Net.Security;
using System.Runtime.CompilerServices;
using System.Security.Cryptography.X509Certificates;

namespace Net.Zlink.Transports.Tls;

/// <summary>Copies an application's options, to change what this library adds: a copy of the base library itself is not public.</summary>
internal static class ApplicationOptions
{
    public static SslServerAuthenticationOptions Copy(
        SslServerAuthenticationOptions users, X509ChainPolicy? policy, SslStreamCertificateContext? shown)
    {
        var copy = (SslServerAuthenticationOptions)ShallowCopy(users);
        copy.CertificateChainPolicy = policy;
        copy.RemoteCertificateValidationCallback = Beside(users.RemoteCertificateValidationCallback);
        copy.ServerCertificateContext = shown;
        copy.ServerCertificateSelectionCallback = users.ServerCertificateSelectionCallback is { } choice
            ? (sender, name) => CallbackThread.Run(() => choice(sender, name)) : null;
        return copy;
    }

    public static SslClientAuthenticationOptions Copy(SslClientAuthenticationOptions users, X509ChainPolicy? policy, string host)
    {
        var copy = (SslClientAuthenticationOptions)ShallowCopy(users);
        copy.CertificateChainPolicy = policy;
        copy.LocalCertificateSelectionCallback = users.LocalCertificateSelectionCallback is { } choice
            ? (sender, target, own, remote, issuers) => CallbackThread.Run(() => choice(sender, target, own, remote, issuers)) : null;
        copy.RemoteCertificateValidationCallback = Beside(users.RemoteCertificateValidationCallback);
        copy.TargetHost = string.IsNullOrEmpty(users.TargetHost) ? host : users.TargetHost;
        return copy;
    }

    [UnsafeAccessor(UnsafeAccessorKind.Method, Name = nameof(MemberwiseClone))]
    private static extern object ShallowCopy(object options);

    private static RemoteCertificateValidationCallback? Beside(RemoteCertificateValidationCallback? check) =>
        check is null ? null : (sender, certificate, chain, errors) => CallbackThread.Run(() => check(sender, certificate, chain, errors));
}
