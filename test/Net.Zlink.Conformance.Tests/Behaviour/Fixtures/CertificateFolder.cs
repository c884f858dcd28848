using System.Net;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;

namespace Net.Zlink.Conformance.Tests.Behaviour.Fixtures;

/// <summary>
/// An authority of the test's own and what it has signed, as PEM files in a folder that goes with it: a server's certificate for localhost,
/// 127.0.0.1 and ::1, and a client's. Made anew each time, so that no file of the
/// repository runs out one day.
/// </summary>
internal sealed class CertificateFolder : IDisposable
{
    public const string Password = "open sesame";

    private static readonly HashAlgorithmName Hash = HashAlgorithmName.SHA256;
    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("zlink-tls-");

    public CertificateFolder()
    {
        using ECDsa key = NewKey();
        using X509Certificate2 authority = Authority(key, "CN=Net.Zlink test authority");
        AuthorityFile = Write("ca.pem", authority.ExportCertificatePem());
        using ECDsa otherKey = NewKey();
        using X509Certificate2 other = Authority(otherKey, "CN=Somebody else");
        StrangersFile = Write("stranger.pem", other.ExportCertificatePem());
        (ServerFile, ServerKeyFile, LockedServerKeyFile) = Issue(authority, "server", "CN=localhost", "1.3.6.1.5.5.7.3.1");
        (ClientFile, ClientKeyFile, _) = Issue(authority, "client", "CN=client", "1.3.6.1.5.5.7.3.2");
    }

    /// <summary>The authority, which has signed both certificates.</summary>
    public string AuthorityFile { get; }

    /// <summary>An authority that has signed nothing here.</summary>
    public string StrangersFile { get; }

    public string ServerFile { get; }

    public string ServerKeyFile { get; }

    /// <summary>The server's key, encrypted with <see cref="Password"/>.</summary>
    public string LockedServerKeyFile { get; }

    public string ClientFile { get; }

    public string ClientKeyFile { get; }

    public void Dispose() => _folder.Delete(recursive: true);

    private static ECDsa NewKey() => ECDsa.Create(ECCurve.NamedCurves.nistP256);

    private static X509Certificate2 Authority(ECDsa key, string name)
    {
        var request = new CertificateRequest(name, key, Hash);
        request.CertificateExtensions.Add(new X509BasicConstraintsExtension(
            certificateAuthority: true, hasPathLengthConstraint: false, 0, critical: true));
        request.CertificateExtensions.Add(new X509KeyUsageExtension(
            X509KeyUsageFlags.KeyCertSign | X509KeyUsageFlags.CrlSign, critical: true));
        request.CertificateExtensions.Add(new X509SubjectKeyIdentifierExtension(request.PublicKey, critical: false));
        return request.CreateSelfSigned(DateTimeOffset.UtcNow.AddDays(-1), DateTimeOffset.UtcNow.AddDays(2));
    }

    private (string Certificate, string Key, string LockedKey) Issue(X509Certificate2 authority, string file, string name, string usage)
    {
        using ECDsa key = NewKey();
        var request = new CertificateRequest(name, key, Hash);
        request.CertificateExtensions.Add(new X509BasicConstraintsExtension(
            certificateAuthority: false, hasPathLengthConstraint: false, 0, critical: true));
        request.CertificateExtensions.Add(new X509EnhancedKeyUsageExtension([new Oid(usage)], critical: false));
        var names = new SubjectAlternativeNameBuilder();
        names.AddDnsName("localhost");
        names.AddIpAddress(IPAddress.Loopback);
        names.AddIpAddress(IPAddress.IPv6Loopback);
        request.CertificateExtensions.Add(names.Build());
        using X509Certificate2 certificate = request.Create(
            authority, DateTimeOffset.UtcNow.AddHours(-1), DateTimeOffset.UtcNow.AddDays(1), RandomNumberGenerator.GetBytes(8));
        return (
            Write(file + ".pem", certificate.ExportCertificatePem()),
            Write(file + ".key", key.ExportPkcs8PrivateKeyPem()),
            Write(file + ".locked.key", key.ExportEncryptedPkcs8PrivateKeyPem(
                Password, new PbeParameters(PbeEncryptionAlgorithm.Aes256Cbc, Hash, 1000))));
    }

    private string Write(string name, string pem)
    {
        string path = Path.Combine(_folder.FullName, name);
        File.WriteAllText(path, pem);
        return path;
    }
}
