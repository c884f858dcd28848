using System.Collections.Concurrent;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using Samples;

namespace Net.Zlink.Tests.Support;

#pragma warning disable CA1852 // Not sealed: Authorities derives from it. Some projects compile this file without that one.
/// <summary>An authority and what it issued, made for one test; PEM files in a folder of their own, removed in the end.</summary>
internal class TestCertificates : IDisposable
#pragma warning restore CA1852
{
    // Making a key takes a quarter of a second, a hundred times what the rest of a test takes: one for each name in this process is enough
    // to tell them apart.
    private static readonly ConcurrentDictionary<string, Lazy<byte[]>> Keys = new(StringComparer.Ordinal);

    private readonly X509Certificate2 _authority;
    private readonly List<X509Certificate2> _kept = [];

    public TestCertificates(string authority = "CN=Zlink test authority")
    {
        _authority = CertificateMaker.MakeAuthority(authority);
        CaFile = Write("ca.crt", _authority.ExportCertificatePem());
        Server = Issue("CN=server", ["localhost", "127.0.0.1", "::1"]);
        (CertificateFile, KeyFile) = WriteFiles("server", Server);
    }

    /// <summary>For localhost, 127.0.0.1 and ::1.</summary>
    public X509Certificate2 Server { get; }

    public string CaFile { get; }

    public string CertificateFile { get; }

    public string KeyFile { get; }

    /// <summary>A folder for files of the test's own.</summary>
    public string Folder { get; } = Directory.CreateTempSubdirectory("zlink-tls-").FullName;

    /// <summary>Issues a certificate, valid around now unless told otherwise.</summary>
    public X509Certificate2 Issue(string subject, string[] hosts, int daysUntilEnd = 365)
    {
        using RSA key = KeyOf($"{subject} of {_authority.Subject}");
        return Keep(CertificateMaker.Make(subject, hosts, _authority, key, daysUntilEnd));
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

    /// <summary>Writes a file of the test's own and returns its path.</summary>
    public string Write(string name, string text)
    {
        string path = Path.Combine(Folder, name);
        File.WriteAllText(path, text);
        return path;
    }

    public virtual void Dispose()
    {
        _authority.Dispose();
        _kept.ForEach(static certificate => certificate.Dispose());
        Directory.Delete(Folder, recursive: true);
    }

    /// <summary>Disposes a certificate with this object.</summary>
    protected X509Certificate2 Keep(X509Certificate2 certificate)
    {
        _kept.Add(certificate);
        return certificate;
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
}
