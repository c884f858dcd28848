using System.Collections.Concurrent;
using System.Net;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;

namespace Net.Zlink.Tests.Support;

/// <summary>An authority and what it issued, made for one test; PEM files in a folder of their own, removed in the end.</summary>
internal sealed class TestCertificates : IDisposable
{
    // Making a key takes a quarter of a second, a hundred times what the rest of a test takes: one for each name in this process is enough
    // to tell them apart.
    private static readonly ConcurrentDictionary<string, Lazy<byte[]>> Keys = new(StringComparer.Ordinal);

    private readonly string _folder = Directory.CreateTempSubdirectory("zlink-tls-").FullName;
    private readonly X509Certificate2 _authority;
    private readonly List<X509Certificate2> _issued = [];

    public TestCertificates(string authority = "CN=Zlink test authority")
    {
        using var key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        var request = new CertificateRequest(authority, key, HashAlgorithmName.SHA256);
        request.CertificateExtensions.Add(new X509BasicConstraintsExtension(
            certificateAuthority: true, hasPathLengthConstraint: false, 0, critical: true));
        request.CertificateExtensions.Add(new X509KeyUsageExtension(
            X509KeyUsageFlags.KeyCertSign | X509KeyUsageFlags.CrlSign, critical: true));
        request.CertificateExtensions.Add(new X509SubjectKeyIdentifierExtension(request.PublicKey, critical: false));
        _authority = request.CreateSelfSigned(DateTimeOffset.UtcNow.AddYears(-2), DateTimeOffset.UtcNow.AddYears(10));
        CaFile = Write("ca.crt", _authority.ExportCertificatePem());
        Server = Issue("CN=server", ["localhost"], [IPAddress.Loopback, IPAddress.IPv6Loopback]);
        (CertificateFile, KeyFile) = WriteFiles("server", Server);
    }

    /// <summary>For localhost, 127.0.0.1 and ::1.</summary>
    public X509Certificate2 Server { get; }

    public string CaFile { get; }

    public string CertificateFile { get; }

    public string KeyFile { get; }

    /// <summary>Issues a certificate, valid around now unless told otherwise.</summary>
    public X509Certificate2 Issue(string subject, string[] names, IPAddress[] addresses, int daysUntilEnd = 365)
    {
        using RSA key = KeyOf($"{subject} of {_authority.Subject}");
        var request = new CertificateRequest(subject, key, HashAlgorithmName.SHA256, RSASignaturePadding.Pkcs1);
        var alternatives = new SubjectAlternativeNameBuilder();
        Array.ForEach(names, alternatives.AddDnsName);
        Array.ForEach(addresses, alternatives.AddIpAddress);
        request.CertificateExtensions.Add(alternatives.Build());
        request.CertificateExtensions.Add(new X509BasicConstraintsExtension(
            certificateAuthority: false, hasPathLengthConstraint: false, 0, critical: true));
        request.CertificateExtensions.Add(new X509KeyUsageExtension(
            X509KeyUsageFlags.DigitalSignature | X509KeyUsageFlags.KeyEncipherment, critical: true));
        DateTimeOffset end = DateTimeOffset.UtcNow.AddDays(daysUntilEnd);
        using ECDsa issuer = _authority.GetECDsaPrivateKey()!;
        using X509Certificate2 bare = request.Create(
            _authority.SubjectName, X509SignatureGenerator.CreateForECDsa(issuer), end.AddDays(-366), end,
            RandomNumberGenerator.GetBytes(8));
        X509Certificate2 certificate = bare.CopyWithPrivateKey(key);
        _issued.Add(certificate);
        return certificate;
    }

    /// <summary>Writes a certificate and its key as PEM files.</summary>
    public (string CertificateFile, string KeyFile) WriteFiles(string name, X509Certificate2 certificate, string password = "")
    {
        using RSA key = certificate.GetRSAPrivateKey()!;
        string pem = password.Length == 0
            ? key.ExportPkcs8PrivateKeyPem()
            : key.ExportEncryptedPkcs8PrivateKeyPem(password,
                new PbeParameters(PbeEncryptionAlgorithm.Aes256Cbc, HashAlgorithmName.SHA256, 1000));
        return (Write($"{name}.crt", certificate.ExportCertificatePem()), Write($"{name}.key", pem));
    }

    public void Dispose()
    {
        _authority.Dispose();
        _issued.ForEach(static certificate => certificate.Dispose());
        Directory.Delete(_folder, recursive: true);
    }

    // Every version and suite that a peer may insist on takes it.
    private static RSA KeyOf(string name)
    {
        byte[] bytes = Keys.GetOrAdd(name, static _ => new Lazy<byte[]>(static () =>
        {
            using var made = RSA.Create(2048);
            return made.ExportPkcs8PrivateKey();
        })).Value;
        var key = RSA.Create();
        key.ImportPkcs8PrivateKey(bytes, out _);
        return key;
    }

    private string Write(string name, string text)
    {
        string path = Path.Combine(_folder, name);
        File.WriteAllText(path, text);
        return path;
    }
}
