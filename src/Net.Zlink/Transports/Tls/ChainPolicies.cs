using System.Net.Security;
using System.Runtime.CompilerServices;
using System.Security.Cryptography.X509Certificates;

namespace Net.Zlink.Transports.Tls;

/// <summary>Which chain policies go to servers that a peer's certificate names. Such a server chooses how long a handshake takes, and the
/// peer whom this process connects to.</summary>
internal static class ChainPolicies
{
    /// <summary>One that fetches no issuer's certificate. Whether certificates are revoked is looked up as <paramref name="revocation"/>
    /// says, which only the application makes anything but "not at all".</summary>
    public static X509ChainPolicy WithoutDownloads(X509RevocationMode revocation) =>
        new() { RevocationMode = revocation, DisableCertificateDownloads = true };

    /// <summary>Building a chain by it may connect to somebody, on the thread that builds it.</summary>
    /// <param name="policy">Null: the base library makes one, which may.</param>
    public static bool MayAskElsewhere(X509ChainPolicy? policy) => policy is null || !policy.DisableCertificateDownloads
        || policy.RevocationMode == X509RevocationMode.Online;

    /// <summary>The context says whom to trust (<see cref="SslCertificateTrust"/>), which the base library heeds only while there is no
    /// policy: with one of ours more were let in.</summary>
    /// <remarks>No public member tells. A base library that keeps it elsewhere is taken to have it, so that nobody is trusted whom the
    /// application does not trust; a test says so then.</remarks>
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
