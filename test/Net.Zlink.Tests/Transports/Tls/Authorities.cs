using System.Net;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using Net.Zlink.Tests.Support;

namespace Net.Zlink.Tests.Transports.Tls;

/// <summary>Two authorities that do not know each other: the one of a test, and <see cref="Other"/>.</summary>
internal sealed class Authorities : IDisposable
{
    private readonly TestCertificates _own = new();
    private readonly Lazy<TestCertificates> _other = new(static () => new TestCertificates("CN=somebody else"));
    private readonly List<X509Certificate2> _kept = [];

    public TestCertificates Other => _other.Value;

    public X509Certificate2 Server => _own.Server;

    public string CaFile => _own.CaFile;

    public string CertificateFile => _own.CertificateFile;

    public string KeyFile => _own.KeyFile;

    /// <summary>A folder for files of the test's own.</summary>
    public string Folder => Path.GetDirectoryName(CaFile)!;

    public X509Certificate2 Issue(string subject, string[] names, IPAddress[] addresses, int daysUntilEnd = 365) =>
        _own.Issue(subject, names, addresses, daysUntilEnd);

    public (string CertificateFile, string KeyFile) WriteFiles(string name, X509Certificate2 certificate, string password = "") =>
        _own.WriteFiles(name, certificate, password);

    /// <summary>Writes a file of the test's own and returns its path.</summary>
    public string Write(string name, string text)
    {
        string path = Path.Combine(Folder, name);
        File.WriteAllText(path, text);
        return path;
    }

    /// <summary>A chain of three: the root's file, a file with the leaf and the one between, and the leaf's key.</summary>
    public (string Root, string Chain, string Key) WriteChain()
    {
        using var rootKey = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        using var middleKey = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        using var leafKey = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        DateTimeOffset from = DateTimeOffset.UtcNow.AddDays(-1);
        DateTimeOffset to = DateTimeOffset.UtcNow.AddDays(30);
        CertificateRequest request = Authority("CN=root", rootKey);
        using X509Certificate2 root = request.CreateSelfSigned(from, to);
        request = Authority("CN=between", middleKey);
        using X509Certificate2 bare = request.Create(root, from, to, [1, 2, 3]);
        using X509Certificate2 middle = bare.CopyWithPrivateKey(middleKey);
        request = new CertificateRequest("CN=leaf", leafKey, HashAlgorithmName.SHA256);
        var names = new SubjectAlternativeNameBuilder();
        names.AddDnsName("localhost");
        request.CertificateExtensions.Add(names.Build());
        using X509Certificate2 leaf = request.Create(middle, from, to, [4, 5, 6]);
        return (
            Write("root.crt", root.ExportCertificatePem()),
            Write("chain.crt", leaf.ExportCertificatePem() + "\n" + middle.ExportCertificatePem()),
            Write("chain.key", leafKey.ExportPkcs8PrivateKeyPem()));
    }

    /// <summary>A leaf for localhost and 127.0.0.1 whose issuer's certificate nobody shows, but could be had at a URL; and the file of the
    /// root above that.</summary>
    public (string Root, X509Certificate2 Leaf) WithIssuerElsewhere(string url)
    {
        using var rootKey = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        using var middleKey = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        using var leafKey = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        DateTimeOffset from = DateTimeOffset.UtcNow.AddDays(-1);
        DateTimeOffset to = DateTimeOffset.UtcNow.AddDays(30);
        using X509Certificate2 root = Authority("CN=root", rootKey).CreateSelfSigned(from, to);
        using X509Certificate2 bare = Authority("CN=elsewhere", middleKey).Create(root, from, to, [1, 2, 3]);
        using X509Certificate2 middle = bare.CopyWithPrivateKey(middleKey);
        var request = new CertificateRequest("CN=leaf", leafKey, HashAlgorithmName.SHA256);
        var names = new SubjectAlternativeNameBuilder();
        names.AddDnsName("localhost");
        names.AddIpAddress(IPAddress.Loopback);
        request.CertificateExtensions.Add(names.Build());
        request.CertificateExtensions.Add(new X509AuthorityInformationAccessExtension(ocspUris: null, [$"{url}/issuer.crt"]));
        using X509Certificate2 leaf = request.Create(middle, from, to, [4, 5, 6]);
        return (Write("root.crt", root.ExportCertificatePem()), Keep(leaf.CopyWithPrivateKey(leafKey)));
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

    public void Dispose()
    {
        _kept.ForEach(static certificate => certificate.Dispose());
        _own.Dispose();
        if (_other.IsValueCreated)
        {
            _other.Value.Dispose();
        }
    }

    private X509Certificate2 Keep(X509Certificate2 certificate)
    {
        _kept.Add(certificate);
        return certificate;
    }

    private static CertificateRequest Authority(string name, ECDsa key)
    {
        var request = new CertificateRequest(name, key, HashAlgorithmName.SHA256);
        request.CertificateExtensions.Add(new X509BasicConstraintsExtension(
            certificateAuthority: true, hasPathLengthConstraint: false, 0, critical: true));
        request.CertificateExtensions.Add(new X509KeyUsageExtension(X509KeyUsageFlags.KeyCertSign, critical: true));
        return request;
    }
}
