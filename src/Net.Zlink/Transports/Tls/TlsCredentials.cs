using System.Net.Security;
using System.Runtime.CompilerServices;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using Net.Zlink.Monitoring;

namespace Net.Zlink.Transports.Tls;

/// <summary>Files are read at first use and after a change.</summary>
internal sealed class TlsCredentials(TlsOptions settings)
{
    private readonly WatchedFiles<SslStreamCertificateContext>? _ownFiles =
        settings.Certificate is not null || settings.CertificateFile.Length == 0 ? null
        : new([settings.CertificateFile, settings.KeyFile], () => PemFiles.ReadOwn(settings));

    private readonly WatchedFiles<X509Certificate2Collection>? _authorities =
        settings.CaFile.Length == 0 ? null : new([settings.CaFile], () => PemFiles.ReadAuthorities(settings.CaFile));

    private SslStreamCertificateContext? _own;
    private SslStreamCertificateContext? _ofServer;

    public string? Staleness =>
        _ownFiles?.Staleness is { } own
            ? $"{OwnFiles}, changed since, cannot be used ({own}): new connections still get the previous certificate"
        : _authorities?.Staleness is { } trusted
            ? $"{EndpointError.Quote(settings.CaFile)}, changed since, cannot be used ({trusted}): new connections still trust the "
            + $"previous authorities"
        : null;

    private string OwnFiles => settings.KeyFile.Length > 0
        ? $"{EndpointError.Quote(settings.CertificateFile)} with the key in {EndpointError.Quote(settings.KeyFile)}"
        : EndpointError.Quote(settings.CertificateFile);

    private bool IsPinned => _authorities is not null || !settings.TrustSystem;

    public string? Check()
    {
        bool showsOwn = settings.Server is null;
        if (showsOwn && settings.Certificate is null && _ownFiles is null)
        {
            return "a listener needs a certificate: set Tls.CertificateFile and Tls.KeyFile, or Tls.Certificate";
        }

        string what = settings.Certificate is not null ? "the certificate in Tls.Certificate" : OwnFiles;
        try
        {
            if (showsOwn)
            {
                Own();
            }

            what = EndpointError.Quote(settings.CaFile);
            _authorities?.Get();
            return null;
        }
        catch (Exception e) when (PemFiles.IsOfFiles(e))
        {
            return $"{what} cannot be used: {ExceptionText.MessageOf(e)}";
        }
    }

    public SslServerAuthenticationOptions ForServer(CertificateValidator judge)
    {
        if (settings.Server is { } users)
        {
            return ApplicationOptions.Copy(users, PolicyOf(
                users.CertificateChainPolicy, users.ServerCertificateContext, users.CertificateRevocationCheckMode), ContextOf(users));
        }

        return new()
        {
            ServerCertificateContext = Own(),
            ClientCertificateRequired = settings.RequireClientCertificate,
            // A resumed session has the client's certificate without its issuers': a chain with an intermediate could not be built.
            AllowTlsResume = !settings.RequireClientCertificate,
            EnabledSslProtocols = settings.Protocols,
            CipherSuitesPolicy = settings.CipherSuites,
            CertificateChainPolicy = Policy(),
            RemoteCertificateValidationCallback = judge.Accepts,
        };
    }

    public SslClientAuthenticationOptions ForClient(CertificateValidator judge, string host)
    {
        if (settings.Client is { } users)
        {
            return ApplicationOptions.Copy(users, PolicyOf(
                users.CertificateChainPolicy, users.ClientCertificateContext, users.CertificateRevocationCheckMode), host);
        }

        return new()
        {
            TargetHost = host,
            ClientCertificateContext = Own(),
            EnabledSslProtocols = settings.Protocols,
            CipherSuitesPolicy = settings.CipherSuites,
            CertificateChainPolicy = Policy(),
            RemoteCertificateValidationCallback = judge.Accepts,
            // A renegotiation would call back on the reading thread.
            AllowRenegotiation = false,
        };
    }

    // Made at first use: an unusable certificate is a failed bind or handshake, not an exception.
    private SslStreamCertificateContext? Own()
    {
        if (settings.Certificate is not { } certificate)
        {
            return _ownFiles?.Get();
        }

        return _own ??= certificate.HasPrivateKey
            ? SslStreamCertificateContext.Create(certificate, additionalCertificates: null, offline: true)
            : throw new CryptographicException(
                "the certificate has no private key; load it together with its key, as X509Certificate2.CreateFromPemFile or "
                + "X509CertificateLoader.LoadPkcs12 does");
    }

    /// <summary>
    /// For a certificate without a context it is made here once: the base library would make it in each handshake, and search for issuers.
    /// </summary>
    private SslStreamCertificateContext? ContextOf(SslServerAuthenticationOptions users)
    {
        if (users.ServerCertificateContext is not null
            || users.ServerCertificate is not X509Certificate2 { HasPrivateKey: true } certificate)
        {
            return users.ServerCertificateContext;
        }

        SslStreamCertificateContext? made = _ofServer;
        return ReferenceEquals(made?.TargetCertificate, certificate) ? made
            : _ofServer = SslStreamCertificateContext.Create(certificate, additionalCertificates: null, offline: true);
    }

    private X509ChainPolicy Policy() => Pin(settings.ChainPolicy?.Clone() ?? ChainPolicies.WithoutDownloads(X509RevocationMode.NoCheck));

    /// <summary>Null leaves it to the base library, only if that alone knows the trust.</summary>
    private X509ChainPolicy? PolicyOf(X509ChainPolicy? users, SslStreamCertificateContext? shown, X509RevocationMode revocation) =>
        users is not null ? Pin(users.Clone())
        : !IsPinned && ChainPolicies.MayHaveTrust(shown) ? null
        : Pin(ChainPolicies.WithoutDownloads(revocation));

    /// <summary>
    /// Sets the trust in a policy, also in the application's: one that is only for its revocation mode must not accept everything that the
    /// system trusts.
    /// </summary>
    private X509ChainPolicy Pin(X509ChainPolicy policy)
    {
        if (IsPinned)
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

internal static class ChainPolicies
{
    /// <summary>
    /// A policy that contacts no server that a peer's certificate names: such a server decides how long a handshake takes.
    /// </summary>
    public static X509ChainPolicy WithoutDownloads(X509RevocationMode revocation) =>
        new() { RevocationMode = revocation, DisableCertificateDownloads = true };

    /// <summary>
    /// Whether the context has its own trust (<see cref="SslCertificateTrust"/>), which the base library uses only without a policy: with
    /// ours, more peers would be accepted. If a base library stores it elsewhere, the answer is yes, so that no untrusted peer is accepted,
    /// and a test fails.
    /// </summary>
    public static bool MayHaveTrust(SslStreamCertificateContext? context)
    {
        try
        {
            return context is not null && TrustOf(context) is not null;
        }
        catch (MissingFieldException)
        {
            return true;
        }
    }

    [UnsafeAccessor(UnsafeAccessorKind.Field, Name = "Trust")]
    private static extern ref SslCertificateTrust? TrustOf(SslStreamCertificateContext context);
}
