using System.Net;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;

namespace Net.Zlink.Benchmarks.Common;

/// <summary>A certificate for the time of a run: the same kind everywhere, because the kind decides what a handshake costs.</summary>
internal static class ServerCertificate
{
    private static readonly TimeSpan Validity = TimeSpan.FromDays(1);

    public static X509Certificate2 Create(string host)
    {
        using var key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        var request = new CertificateRequest($"CN={host}", key, HashAlgorithmName.SHA256);
        var names = new SubjectAlternativeNameBuilder();
        if (IPAddress.TryParse(host, out IPAddress? address))
        {
            names.AddIpAddress(address);
        }
        else
        {
            names.AddDnsName(host);
        }

        request.CertificateExtensions.Add(names.Build());
        DateTimeOffset now = TimeProvider.System.GetUtcNow();
        return request.CreateSelfSigned(now - Validity, now + Validity);
    }
}
