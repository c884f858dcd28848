using System.Net;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;

namespace Samples;

/// <summary>Makes certificates for development, tests and measurements. They belong to the caller.</summary>
internal static class CertificateMaker
{
    /// <summary>Makes one for a side of a connection, valid for 366 days.</summary>
    /// <param name="subject">Such as CN=server.</param>
    /// <param name="hosts">Names and addresses that it is for.</param>
    /// <param name="issuer">One of <see cref="MakeAuthority"/>; null: it signs itself.</param>
    /// <param name="key">A key of the caller's; null: a new one on the curve P-256.</param>
    /// <param name="daysUntilEnd">From now on. A negative number: it has expired. More than 366: it is not valid yet.</param>
    /// <param name="more">Further extensions.</param>
    public static X509Certificate2 Make(string subject, IEnumerable<string> hosts, X509Certificate2? issuer = null, RSA? key = null,
        int daysUntilEnd = 365, params IEnumerable<X509Extension> more)
    {
        using ECDsa newKey = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        var request = key is null ? new CertificateRequest(subject, newKey, HashAlgorithmName.SHA256)
            : new CertificateRequest(subject, key, HashAlgorithmName.SHA256, RSASignaturePadding.Pkcs1);
        var names = new SubjectAlternativeNameBuilder();
        foreach (string host in hosts)
        {
            if (IPAddress.TryParse(host, out IPAddress? address))
            {
                names.AddIpAddress(address);
            }
            else
            {
                names.AddDnsName(host);
            }
        }

        request.CertificateExtensions.Add(names.Build());
        request.CertificateExtensions.Add(new X509BasicConstraintsExtension(
            certificateAuthority: false, hasPathLengthConstraint: false, 0, critical: true));
        X509KeyUsageFlags uses = X509KeyUsageFlags.DigitalSignature;
        request.CertificateExtensions.Add(new X509KeyUsageExtension(
            key is null ? uses : uses | X509KeyUsageFlags.KeyEncipherment, critical: true));
        foreach (X509Extension extension in more)
        {
            request.CertificateExtensions.Add(extension);
        }

        DateTimeOffset end = DateTimeOffset.UtcNow.AddDays(daysUntilEnd);
        if (issuer is null)
        {
            return request.CreateSelfSigned(end.AddDays(-366), end);
        }

        using X509Certificate2 bare = Sign(request, issuer, end.AddDays(-366), end);
        return key is null ? bare.CopyWithPrivateKey(newKey) : bare.CopyWithPrivateKey(key);
    }

    /// <summary>Makes one that signs others.</summary>
    /// <param name="subject">Such as CN=authority.</param>
    /// <param name="issuer">Another authority; null: it signs itself.</param>
    public static X509Certificate2 MakeAuthority(string subject, X509Certificate2? issuer = null)
    {
        using ECDsa key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        var request = new CertificateRequest(subject, key, HashAlgorithmName.SHA256);
        request.CertificateExtensions.Add(new X509BasicConstraintsExtension(
            certificateAuthority: true, hasPathLengthConstraint: false, 0, critical: true));
        request.CertificateExtensions.Add(new X509KeyUsageExtension(
            X509KeyUsageFlags.KeyCertSign | X509KeyUsageFlags.CrlSign, critical: true));
        request.CertificateExtensions.Add(new X509SubjectKeyIdentifierExtension(request.PublicKey, critical: false));
        (DateTimeOffset from, DateTimeOffset to) = (DateTimeOffset.UtcNow.AddYears(-2), DateTimeOffset.UtcNow.AddYears(10));
        if (issuer is null)
        {
            return request.CreateSelfSigned(from, to);
        }

        using X509Certificate2 bare = Sign(request, issuer, from, to);
        return bare.CopyWithPrivateKey(key);
    }

    /// <summary>The private key as PEM, of a certificate that <see cref="Make"/> has made with a new key.</summary>
    public static string ExportKeyPem(this X509Certificate2 certificate)
    {
        using ECDsa key = certificate.GetECDsaPrivateKey()!;
        return key.ExportPkcs8PrivateKeyPem();
    }

    private static X509Certificate2 Sign(CertificateRequest request, X509Certificate2 issuer, DateTimeOffset from, DateTimeOffset to)
    {
        using ECDsa key = issuer.GetECDsaPrivateKey()!;
        return request.Create(
            issuer.SubjectName, X509SignatureGenerator.CreateForECDsa(key), from, to, RandomNumberGenerator.GetBytes(8));
    }
}
