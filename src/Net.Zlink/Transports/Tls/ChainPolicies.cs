using System.Net.Security;
using System.Runtime.CompilerServices;
using System.Security.Cryptography.X509Certificates;

namespace Net.Zlink.Transports.Tls;

/// <summary>
/// Which chain policies contact servers that a peer's certificate names: such a server decides how long a handshake takes.
/// </summary>
internal static class ChainPolicies
{
    /// <summary>A policy that downloads no issuer's certificate.</summary>
    public static X509ChainPolicy WithoutDownloads(X509RevocationMode revocation) =>
        new() { RevocationMode = revocation, DisableCertificateDownloads = true };

    public static bool MayAskElsewhere(X509ChainPolicy? policy) => policy is null || !policy.DisableCertificateDownloads
        || policy.RevocationMode == X509RevocationMode.Online;

    /// <summary>
    /// Whether the context has its own trust (<see cref="SslCertificateTrust"/>), which the base library uses only without a policy: with
    /// ours, more peers would be accepted. If a base library stores it elsewhere, the answer is yes, so that no untrusted peer is accepted,
    /// and a test fails.
    /// </summary>
    public static bool MayHaveTrust(SslStreamCertificateContext? context)
    {
        try
        {
            return context is not null && TrustOf(context) is not null;
        }
        catch (MissingFieldException)
        {
            return true;
        }
    }

    [UnsafeAccessor(UnsafeAccessorKind.Field, Name = "Trust")]
    private static extern ref SslCertificateTrust? TrustOf(SslStreamCertificateContext context);
}
