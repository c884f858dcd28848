using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using Net.Zlink.Tests.Support;
using Samples;

namespace Net.Zlink.Tests.Transports.Tls;

/// <summary>Two authorities that do not know each other: the one of a test, and <see cref="Other"/>.</summary>
internal sealed class Authorities : TestCertificates
{
    private readonly Lazy<TestCertificates> _other = new(static () => new TestCertificates("CN=somebody else"));

    public TestCertificates Other => _other.Value;

    /// <summary>A chain of three: the root's file, a file with the leaf and the one between, and the leaf's key.</summary>
    public (string Root, string Chain, string Key) WriteChain()
    {
        using X509Certificate2 root = CertificateMaker.MakeAuthority("CN=root");
        using X509Certificate2 middle = CertificateMaker.MakeAuthority("CN=between", root);
        using X509Certificate2 leaf = CertificateMaker.Make("CN=leaf", ["localhost"], middle);
        return (
            Write("root.crt", root.ExportCertificatePem()),
            Write("chain.crt", leaf.ExportCertificatePem() + "\n" + middle.ExportCertificatePem()),
            Write("chain.key", leaf.ExportKeyPem()));
    }

    /// <summary>A leaf for localhost and 127.0.0.1 whose issuer's certificate nobody shows, but could be had at a URL; and the file of the
    /// root above that.</summary>
    public (string Root, X509Certificate2 Leaf) WithIssuerElsewhere(string url)
    {
        using X509Certificate2 root = CertificateMaker.MakeAuthority("CN=root");
        using X509Certificate2 middle = CertificateMaker.MakeAuthority("CN=elsewhere", root);
        return (Write("root.crt", root.ExportCertificatePem()), Keep(CertificateMaker.Make("CN=leaf", ["localhost", "127.0.0.1"], middle,
            more: new X509AuthorityInformationAccessExtension(ocspUris: null, [$"{url}/issuer.crt"]))));
    }

    /// <summary>The server's certificate alone.</summary>
    public X509Certificate2 WithoutKey() => Keep(X509CertificateLoader.LoadCertificate(Server.RawData));

    /// <summary>One of its own authority whose alternative names hold an IP address of three bytes.</summary>
    public X509Certificate2 WithMalformedNames()
    {
        using var key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        var request = new CertificateRequest("CN=odd", key, HashAlgorithmName.SHA256);
        request.CertificateExtensions.Add(new X509Extension("2.5.29.17", [0x30, 0x05, 0x87, 0x03, 1, 2, 3], critical: false));
        return Keep(request.CreateSelfSigned(DateTimeOffset.UtcNow.AddDays(-1), DateTimeOffset.UtcNow.AddDays(30)));
    }

    public override void Dispose()
    {
        base.Dispose();
        if (_other.IsValueCreated)
        {
            _other.Value.Dispose();
        }
    }
}
