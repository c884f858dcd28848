using System.Diagnostics;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using Samples;

namespace EchoServer;

/// <summary>A self-signed certificate for this machine, for development: made once, kept in the user's own folder, made anew when it is
/// about to expire.</summary>
internal sealed record DevCertificate(string CertificateFile, string KeyFile)
{
    private const string Name = "CN=Net.Zlink EchoServer development";
    private static readonly Oid ServerAuthentication = new("1.3.6.1.5.5.7.3.1");

    // Making a pair takes a tenth of a second; whoever holds the lock so long is stuck.
    private static readonly TimeSpan LockPatience = TimeSpan.FromSeconds(10);

    // A server that is started today should not fail tomorrow.
    private static readonly TimeSpan Reserve = TimeSpan.FromDays(7);

    /// <summary>What to tell the user about it.</summary>
    public string Advice =>
        $"self-signed certificate {CertificateFile}; a client trusts it with Tls.CaFile (Net.Zlink), --cacert (curl), "
        + $"NODE_EXTRA_CA_CERTS (Node), or when it is imported (browsers)";

    /// <summary>The one that is there, or a new one.</summary>
    /// <exception cref="IOException">The folder cannot be written.</exception>
    /// <exception cref="UnauthorizedAccessException">The folder cannot be written.</exception>
    public static DevCertificate GetOrMake()
    {
        string folder = Path.Combine(Environment.GetFolderPath(
            Environment.SpecialFolder.LocalApplicationData, Environment.SpecialFolderOption.Create), "net-zlink-dev");
        var files = new DevCertificate(Path.Combine(folder, "dev.crt"), Path.Combine(folder, "dev.key"));
        if (files.IsGood())
        {
            return files;
        }

        Directory.CreateDirectory(folder);

        // Of two first starts at once the second finds what the first has made. Without the lock the certificate of one lay beside the key
        // of the other.
        using FileStream own = Lock(Path.Combine(folder, "lock"));
        if (files.IsGood())
        {
            return files;
        }

        using X509Certificate2 certificate = CertificateMaker.Make(Name, ["localhost", Environment.MachineName, "127.0.0.1", "::1"],
            more: new X509EnhancedKeyUsageExtension([ServerAuthentication], critical: false));
        Replace(files.KeyFile, certificate.ExportKeyPem(), isSecret: true);
        Replace(files.CertificateFile, certificate.ExportCertificatePem(), isSecret: false);
        return files;
    }

    private static FileStream Lock(string path)
    {
        long started = Stopwatch.GetTimestamp();
        while (true)
        {
            try
            {
                return new FileStream(path, FileMode.OpenOrCreate, FileAccess.ReadWrite, FileShare.None);
            }
            catch (IOException) when (Stopwatch.GetElapsedTime(started) < LockPatience)
            {
                Thread.Sleep(20);
            }
        }
    }

    /// <summary>Never seen half written: by a new name first, then the old one.</summary>
    private static void Replace(string path, string text, bool isSecret)
    {
        string next = path + ".new";
        File.Delete(next); // Of a start that was stopped.
        var options = new FileStreamOptions { Mode = FileMode.CreateNew, Access = FileAccess.Write };
        if (isSecret && !OperatingSystem.IsWindows())
        {
            options.UnixCreateMode = UnixFileMode.UserRead | UnixFileMode.UserWrite;
        }

        using (var writer = new StreamWriter(next, options))
        {
            writer.Write(text);
        }

        File.Move(next, path, overwrite: true);
    }

    private bool IsGood()
    {
        try
        {
            using X509Certificate2 certificate = X509Certificate2.CreateFromPemFile(CertificateFile, KeyFile);
            return certificate.NotAfter - DateTime.Now > Reserve;
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException or CryptographicException or ArgumentException)
        {
            // Not there, not ours to read, or not what it should be: ArgumentException is a key that belongs to another certificate.
            return false;
        }
    }
}
