using System.Net.Security;
using System.Runtime.CompilerServices;
using System.Security.Cryptography.X509Certificates;

namespace Net.Zlink.Transports.Tls;

/// <summary>
/// Which chain policies contact servers that a peer's certificate names. Such a server decides how long a handshake takes, and the peer
/// decides which server.
/// </summary>
internal static class ChainPolicies
{
    /// <summary>
    /// A policy that downloads no issuer's certificate. Revocation is checked as <paramref name="revocation"/> says, by default not at all.
    /// </summary>
    public static X509ChainPolicy WithoutDownloads(X509RevocationMode revocation) =>
        new() { RevocationMode = revocation, DisableCertificateDownloads = true };

    /// <summary>Whether building a chain may connect to a server, on the building thread.</summary>
    /// <param name="policy">Null: the base library's, which may.</param>
    public static bool MayAskElsewhere(X509ChainPolicy? policy) => policy is null || !policy.DisableCertificateDownloads
        || policy.RevocationMode == X509RevocationMode.Online;

    /// <summary>
    /// Whether the context has its own trust (<see cref="SslCertificateTrust"/>), which the base library uses only without a policy: with
    /// ours, more peers would be accepted.
    /// </summary>
    /// <remarks>
    /// No public member shows it. If a base library stores it elsewhere, the answer is yes, so that no untrusted peer is accepted, and a
    /// test fails.
    /// </remarks>
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
