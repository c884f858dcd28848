using System.Net;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;

namespace EchoServer;

/// <summary>A self-signed certificate for this machine, for development: made once, kept in the user's own folder, made anew when it is about to expire.</summary>
internal sealed record DevCertificate(string CertificateFile, string KeyFile)
{
    private const string Name = "CN=Net.Zlink EchoServer development";
    private static readonly TimeSpan Lifetime = TimeSpan.FromDays(365);

    // A server that is started today should not fail tomorrow.
    private static readonly TimeSpan Reserve = TimeSpan.FromDays(7);

    /// <summary>What to tell the user about it.</summary>
    public string Advice => $"self-signed certificate {CertificateFile}; a client trusts it with Tls.CaFile (Net.Zlink), --cacert (curl), NODE_EXTRA_CA_CERTS (Node), or when it is imported (browsers)";

    /// <summary>The one that is there, or a new one.</summary>
    /// <exception cref="IOException">The folder cannot be written.</exception>
    /// <exception cref="UnauthorizedAccessException">The folder cannot be written.</exception>
    public static DevCertificate GetOrMake()
    {
        string folder = Path.Combine(Environment.GetFolderPath(Environment.SpecialFolder.LocalApplicationData, Environment.SpecialFolderOption.Create), "net-zlink-dev");
        var files = new DevCertificate(Path.Combine(folder, "dev.crt"), Path.Combine(folder, "dev.key"));
        if (files.IsGood())
        {
            return files;
        }

        Directory.CreateDirectory(folder);
        using var key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        using X509Certificate2 certificate = Make(key);
        WriteForOwner(files.KeyFile, key.ExportPkcs8PrivateKeyPem());
        File.WriteAllText(files.CertificateFile, certificate.ExportCertificatePem());
        return files;
    }

    private static X509Certificate2 Make(ECDsa key)
    {
        var names = new SubjectAlternativeNameBuilder();
        names.AddDnsName("localhost");
        names.AddDnsName(Environment.MachineName);
        names.AddIpAddress(IPAddress.Loopback);
        names.AddIpAddress(IPAddress.IPv6Loopback);
        var request = new CertificateRequest(Name, key, HashAlgorithmName.SHA256);
        request.CertificateExtensions.Add(names.Build());
        request.CertificateExtensions.Add(new X509BasicConstraintsExtension(certificateAuthority: false, hasPathLengthConstraint: false, 0, critical: true));
        request.CertificateExtensions.Add(new X509KeyUsageExtension(X509KeyUsageFlags.DigitalSignature, critical: true));
        request.CertificateExtensions.Add(new X509EnhancedKeyUsageExtension([new Oid("1.3.6.1.5.5.7.3.1")], critical: false)); // server authentication
        DateTimeOffset now = DateTimeOffset.UtcNow;
        return request.CreateSelfSigned(now.AddDays(-1), now + Lifetime);
    }

    private static void WriteForOwner(string path, string text)
    {
        var options = new FileStreamOptions { Mode = FileMode.Create, Access = FileAccess.Write };
        if (!OperatingSystem.IsWindows())
        {
            options.UnixCreateMode = UnixFileMode.UserRead | UnixFileMode.UserWrite;
        }

        using var writer = new StreamWriter(path, options);
        writer.Write(text);
    }

    private bool IsGood()
    {
        try
        {
            using X509Certificate2 certificate = X509Certificate2.CreateFromPemFile(CertificateFile, KeyFile);
            return certificate.NotAfter - DateTime.Now > Reserve;
        }
        catch (Exception e) when (e is IOException or CryptographicException)
        {
            return false; // Not there, or not what it should be.
        }
    }
}
