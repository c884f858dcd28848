using System.Net.Security;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;

namespace Net.Zlink.Transports.Tls;

internal static class PemFiles
{
    private const string Encrypted = "-----BEGIN ENCRYPTED PRIVATE KEY-----";

    // OpenSSL's key encryption before PKCS#8, in a header between label and key. The base library does not read it.
    private const string TraditionallyEncrypted = "Proc-Type: 4,ENCRYPTED";

    private static readonly string[] Plain = ["-----BEGIN PRIVATE KEY-----", "-----BEGIN RSA PRIVATE KEY-----",
        "-----BEGIN EC PRIVATE KEY-----"];

    public static bool IsOfFiles(Exception exception) =>
        exception is IOException or UnauthorizedAccessException or CryptographicException or ArgumentException;

    /// <summary>Nothing is downloaded.</summary>
    public static SslStreamCertificateContext ReadOwn(TlsOptions settings)
    {
        X509Certificate2 certificate = Read(settings);
        var chain = new X509Certificate2Collection();
        chain.ImportFromPemFile(settings.CertificateFile);
        if (chain.Count > 0)
        {
            chain[0].Dispose();
            chain.RemoveAt(0);
        }

        return SslStreamCertificateContext.Create(certificate, chain, offline: true);
    }

    public static X509Certificate2Collection ReadAuthorities(string path)
    {
        var authorities = new X509Certificate2Collection();
        authorities.ImportFromPemFile(path);
        return authorities.Count > 0 ? authorities : throw new CryptographicException("the file holds no certificate");
    }

    private static X509Certificate2 Read(TlsOptions settings)
    {
        X509Certificate2 certificate = ReadWithKey(
            settings.CertificateFile, settings.KeyFile.Length > 0 ? settings.KeyFile : settings.CertificateFile, settings.KeyPassword);
        if (!OperatingSystem.IsWindows())
        {
            return certificate;
        }

        // Windows' TLS does not accept a key in memory only; through a container it becomes one of the system's.
        using (certificate)
        {
            return X509CertificateLoader.LoadPkcs12(certificate.Export(X509ContentType.Pkcs12), password: null);
        }
    }

    private static X509Certificate2 ReadWithKey(string path, string keyPath, string password)
    {
        string keys = File.ReadAllText(keyPath);
        if (keys.Contains(Encrypted, StringComparison.Ordinal))
        {
            return password.Length > 0 ? X509Certificate2.CreateFromEncryptedPemFile(path, password, keyPath)
                : throw new CryptographicException("the key is encrypted: set Tls.KeyPassword");
        }

        // As in OpenSSL and so in the native core, a password for a key without one is ignored.
        try
        {
            return X509Certificate2.CreateFromPemFile(path, keyPath);
        }
        catch (CryptographicException e) when (keys.Contains(TraditionallyEncrypted, StringComparison.Ordinal)
            || !Array.Exists(Plain, label => keys.Contains(label, StringComparison.Ordinal)))
        {
            throw new CryptographicException(
                "there is no key in a form that can be read, which are PRIVATE KEY and ENCRYPTED PRIVATE KEY (PKCS#8), and, not "
                + "encrypted, RSA PRIVATE KEY and EC PRIVATE KEY; \"openssl pkcs8 -topk8\" converts others", e);
        }
    }
}
