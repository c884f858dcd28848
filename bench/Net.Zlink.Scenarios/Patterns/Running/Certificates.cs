using System.Security.Cryptography.X509Certificates;
using Samples;

namespace Net.Zlink.Scenarios.Patterns.Running;

/// <summary>A certificate for the time of a measurement, as files: the native library takes nothing else, and ours then does the same. The
/// clients trust it and nothing else.</summary>
internal sealed class Certificates : IDisposable
{
    /// <summary>The name that the clients expect.</summary>
    public const string Host = "localhost";

    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("zlink-patterns-");

    public Certificates()
    {
        using X509Certificate2 certificate = CertificateMaker.Make($"CN={Host}", [Host]);
        CertificateFile = Path.Combine(_folder.FullName, "certificate.pem");
        KeyFile = Path.Combine(_folder.FullName, "key.pem");
        File.WriteAllText(CertificateFile, certificate.ExportCertificatePem());
        File.WriteAllText(KeyFile, certificate.ExportKeyPem());
    }

    public string CertificateFile { get; }

    public string KeyFile { get; }

    /// <summary>Null for transports that encrypt nothing.</summary>
    public static Certificates? For(string transport) => transport is "tls" or "wss" ? new Certificates() : null;

    public void Dispose() => _folder.Delete(recursive: true);
}
