using System.Net.Security;
using System.Security.Cryptography.X509Certificates;

namespace Net.Zlink.Transports.Tls;

/// <summary>The certificates of one endpoint: its own, and those it trusts. Files are read when they are first needed and again when they have changed. Thread-safe.</summary>
internal sealed class TlsCredentials
{
    private readonly TlsSettings _settings;
    private readonly WatchedFiles<SslStreamCertificateContext>? _ownFiles;
    private readonly SslStreamCertificateContext? _own;
    private readonly WatchedFiles<X509Certificate2Collection>? _authorities;

    public TlsCredentials(TlsSettings settings)
    {
        _settings = settings;
        if (settings.Certificate is { } certificate)
        {
            _own = SslStreamCertificateContext.Create(certificate, additionalCertificates: null, offline: true);
        }
        else if (settings.CertificateFile.Length > 0)
        {
            _ownFiles = new([settings.CertificateFile, settings.KeyFile], () => PemFiles.ReadOwn(settings));
        }

        if (settings.CaFile.Length > 0)
        {
            _authorities = new([settings.CaFile], () => PemFiles.ReadAuthorities(settings.CaFile));
        }
    }

    /// <summary>What is wrong with them already, before anybody connects: a file that is missing, or not what it should be. Null: nothing.</summary>
    /// <param name="mustHaveOwn">The side that listens has to show a certificate.</param>
    public string? Check(bool mustHaveOwn)
    {
        if (mustHaveOwn && _own is null && _ownFiles is null)
        {
            return "a listener needs a certificate: set Tls.CertificateFile and Tls.KeyFile, or Tls.Certificate";
        }

        string what = _settings.CertificateFile;
        try
        {
            _ownFiles?.Get();
            what = _settings.CaFile;
            _authorities?.Get();
            return null;
        }
        catch (Exception e) when (PemFiles.IsOfFiles(e))
        {
            return $"{EndpointError.Quote(what)} cannot be used: {e.Message}";
        }
    }

    /// <summary>What a server shows and demands.</summary>
    public SslServerAuthenticationOptions ForServer(CertificateJudge judge) => _settings.Server ?? new SslServerAuthenticationOptions
    {
        ServerCertificateContext = _own ?? _ownFiles?.Get(),
        ClientCertificateRequired = _settings.RequireClientCertificate,
        EnabledSslProtocols = _settings.Protocols,
        CipherSuitesPolicy = _settings.CipherSuites,
        CertificateChainPolicy = ChainPolicy(),
        RemoteCertificateValidationCallback = judge.Accepts,
    };

    /// <summary>What a client asks for and shows.</summary>
    public SslClientAuthenticationOptions ForClient(CertificateJudge judge, string host) => _settings.Client ?? new SslClientAuthenticationOptions
    {
        TargetHost = host,
        ClientCertificateContext = _own ?? _ownFiles?.Get(),
        EnabledSslProtocols = _settings.Protocols,
        CipherSuitesPolicy = _settings.CipherSuites,
        CertificateChainPolicy = ChainPolicy(),
        RemoteCertificateValidationCallback = judge.Accepts,
    };

    private X509ChainPolicy ChainPolicy()
    {
        if (_settings.ChainPolicy is { } users)
        {
            return users;
        }

        var policy = new X509ChainPolicy { RevocationMode = X509RevocationMode.NoCheck, DisableCertificateDownloads = true };
        if (_authorities is not null || !_settings.TrustSystem)
        {
            policy.TrustMode = X509ChainTrustMode.CustomRootTrust;
            if (_authorities is not null)
            {
                policy.CustomTrustStore.AddRange(_authorities.Get());
            }
        }

        return policy;
    }
}
