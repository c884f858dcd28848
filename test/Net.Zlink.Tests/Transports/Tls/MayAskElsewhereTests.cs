using System.Net.Security;
using System.Security.Cryptography.X509Certificates;
using Net.Zlink.Transports;
using Net.Zlink.Transports.Tls;
using Xunit;

namespace Net.Zlink.Tests.Transports.Tls;

/// <summary>Which handshakes may wait for servers that are neither side's, and so are on threads of their own.</summary>
public sealed class MayAskElsewhereTests : IDisposable
{
    private readonly Authorities _own = new();

    public void Dispose() => _own.Dispose();

    [Theory]
    [InlineData("as it is", false, false)]
    [InlineData("a policy that downloads", true, true)]
    [InlineData("a policy that asks for revocation", true, true)]
    [InlineData("a policy that does neither", false, false)]
    [InlineData("a policy that downloads, and no certificate demanded", true, false)]
    [InlineData("options", false, false)]
    [InlineData("options with a policy that downloads", true, true)]
    [InlineData("options with a policy that downloads, and no certificate demanded", true, false)]
    [InlineData("options that ask for revocation", true, true)]
    [InlineData("options with a context", false, false)]
    [InlineData("options with a context's trust", true, true)]
    [InlineData("options with a context's trust, and CaFile", false, false)]
    [InlineData("options with certificates whose contexts the base library makes", true, true)]
    public void TLS_handshakes_may_ask_other_servers_only_where_the_options_let_them(string what, bool whenConnecting, bool whenListening)
    {
        Assert.Equal(whenConnecting, new TlsCredentials(SettingsOf(what)).MayAskElsewhere(isServer: false));
        Assert.Equal(whenListening, new TlsCredentials(SettingsOf(what)).MayAskElsewhere(isServer: true));
    }

    private TlsOptions SettingsOf(string what)
    {
        bool demands = !what.EndsWith("no certificate demanded", StringComparison.Ordinal);
        X509ChainPolicy? policy = what.Contains("a policy", StringComparison.Ordinal)
            ? new()
            {
                RevocationMode = what.EndsWith("revocation", StringComparison.Ordinal) ? X509RevocationMode.Online
                    : X509RevocationMode.NoCheck,
                DisableCertificateDownloads = !what.Contains("downloads", StringComparison.Ordinal),
            }
            : null;
        if (!what.StartsWith("options", StringComparison.Ordinal))
        {
            return new TlsOptions { RequireClientCertificate = demands, ChainPolicy = policy };
        }

        SslCertificateTrust? trust = what.Contains("trust", StringComparison.Ordinal)
            ? SslCertificateTrust.CreateForX509Collection([_own.Server]) : null;
        SslStreamCertificateContext? context = what.Contains("a context", StringComparison.Ordinal)
            ? SslStreamCertificateContext.Create(_own.Server, additionalCertificates: null, offline: true, trust) : null;
        X509RevocationMode revocation = what is "options that ask for revocation" ? X509RevocationMode.Online : X509RevocationMode.NoCheck;
        bool isMade = what.EndsWith("the base library makes", StringComparison.Ordinal);
#pragma warning disable SYSLIB0026, SYSLIB0057 // The old kind of certificate, for which the base library looks up the new one.
        X509Certificate old = isMade ? new X509Certificate(_own.Server.RawData) : _own.Server;
#pragma warning restore SYSLIB0026, SYSLIB0057
        return new TlsOptions
        {
            CaFile = what.EndsWith("CaFile", StringComparison.Ordinal) ? _own.CaFile : "",
            Server = new()
            {
                ServerCertificate = context is null ? old : null,
                ServerCertificateContext = context,
                ClientCertificateRequired = demands && !isMade,
                CertificateChainPolicy = policy,
                CertificateRevocationCheckMode = revocation
            },
            Client = new()
            {
                ClientCertificates = isMade ? [old] : null,
                ClientCertificateContext = context,
                CertificateChainPolicy = policy,
                CertificateRevocationCheckMode = revocation
            },
        };
    }
}
