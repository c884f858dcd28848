using System.Net.Security;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;

namespace Net.Zlink.Transports.Tls;

/// <summary>Reads certificates and keys from PEM files.</summary>
internal static class PemFiles
{
    /// <summary>What reading a file that is missing, not ours to read or malformed throws.</summary>
    public static bool IsOfFiles(Exception exception) => exception is IOException or UnauthorizedAccessException or CryptographicException or ArgumentException;

    /// <summary>A certificate with its key and the issuers that its file holds, ready to be shown to peers. Nothing is downloaded to complete it.</summary>
    public static SslStreamCertificateContext ReadOwn(TlsSettings settings)
    {
        X509Certificate2 certificate = Read(settings);
        var chain = new X509Certificate2Collection();
        chain.ImportFromPemFile(settings.CertificateFile);
        if (chain.Count > 0)
        {
            chain[0].Dispose();
            chain.RemoveAt(0); // The first is the certificate itself.
        }

        return SslStreamCertificateContext.Create(certificate, chain, offline: true);
    }

    /// <summary>The authorities of a file.</summary>
    public static X509Certificate2Collection ReadAuthorities(string path)
    {
        var authorities = new X509Certificate2Collection();
        authorities.ImportFromPemFile(path);
        return authorities.Count > 0 ? authorities : throw new CryptographicException("the file holds no certificate");
    }

    private static X509Certificate2 Read(TlsSettings settings)
    {
        string? key = settings.KeyFile.Length > 0 ? settings.KeyFile : null;
        X509Certificate2 certificate = settings.KeyPassword.Length > 0
            ? X509Certificate2.CreateFromEncryptedPemFile(settings.CertificateFile, settings.KeyPassword, key)
            : ReadPlain(settings.CertificateFile, key);
        if (!OperatingSystem.IsWindows())
        {
            return certificate;
        }

        // Windows' TLS takes no key that lives in memory only: through a container it becomes one of the system's.
        using (certificate)
        {
            return X509CertificateLoader.LoadPkcs12(certificate.Export(X509ContentType.Pkcs12), password: null);
        }
    }

    private static X509Certificate2 ReadPlain(string path, string? key)
    {
        try
        {
            return X509Certificate2.CreateFromPemFile(path, key);
        }
        catch (CryptographicException e) when (File.ReadAllText(key ?? path).Contains("ENCRYPTED", StringComparison.Ordinal))
        {
            throw new CryptographicException("the key is encrypted: set Tls.KeyPassword", e);
        }
    }
}
