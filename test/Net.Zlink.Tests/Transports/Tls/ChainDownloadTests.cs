using System.Net.Security;
using System.Security.Cryptography.X509Certificates;
using Net.Zlink.Monitoring;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Transports.Tls;

/// <summary>A certificate may say where its issuer's can be had. Nobody goes there, unless a policy of the application's allows it: the
/// peer would choose whom we connect to, and how long a handshake takes.</summary>
public sealed class ChainDownloadTests : IDisposable
{
    private const string Policy = "a policy";
    private const string Options = "options without a policy";
    private const string Unpinned = "options without a policy, trusting the system";
    private const string Context = "options with a certificate's context, trusting the system";
    private const string OptionsWithPolicy = "options with a policy";

    private readonly Authorities _own = new();

    public void Dispose() => _own.Dispose();

    [Theory]
    [InlineData(true, Policy, false)]
    [InlineData(false, Policy, false)]
    [InlineData(true, Policy, true)]
    [InlineData(false, Policy, true)]
    [InlineData(true, Options, false)]
    [InlineData(false, Options, false)]
    [InlineData(true, Unpinned, false)]
    [InlineData(false, Unpinned, false)]
    [InlineData(true, Context, false)]
    [InlineData(false, Context, false)]
    [InlineData(true, OptionsWithPolicy, true)]
    [InlineData(false, OptionsWithPolicy, true)]
    public async Task The_issuer_of_a_peers_certificate_is_fetched_only_with_a_policy_that_allows_it(
        bool isConnecter, string what, bool isAllowed)
    {
        await using var fixture = new ContextFixture();
        using var elsewhere = new RawListener();
        (string root, X509Certificate2 leaf) = IssuedAt(elsewhere);
        DealerSocket server = fixture.Context.CreateDealer(new DealerOptions { Linger = TimeSpan.Zero });
        DealerSocket client = fixture.Context.CreateDealer(
            new DealerOptions { Linger = TimeSpan.Zero, ReconnectInterval = TimeSpan.FromHours(1) });
        server.Options.Tls.Certificate = isConnecter ? leaf : _own.Server;
        server.Options.Tls.RequireClientCertificate = !isConnecter;
        client.Options.Tls.Certificate = isConnecter ? null : leaf;
        client.Options.Tls.VerifyPeer = isConnecter;
        DealerSocket judge = isConnecter ? client : server;
        judge.Options.Tls.CaFile = what is Unpinned or Context ? "" : root;
        Set(judge.Options.Tls, isConnecter, what, isAllowed ? new X509ChainPolicy { RevocationMode = X509RevocationMode.NoCheck } : null);
        using EventReader monitor = judge.ReadEvents(SocketEventTypes.ConnectionReady | SocketEventTypes.HandshakeFailedNoDetail);
        client.Connect(server.Bind("tls://127.0.0.1:0"));
        if (isAllowed)
        {
            using RawPeer fetching = await elsewhere.AcceptAsync(); // There is a request; what the answer would be is of no matter.
            Assert.Equal("GET "u8.ToArray(), await fetching.ReadAsync(4));
            fetching.Reset();
        }

        SocketEvent failed = await monitor.ReadAsync(Guard.Token).Guarded();
        Assert.Equal(SocketEventTypes.HandshakeFailedNoDetail, failed.Type);
        Assert.Matches("which this side does not trust|certificate chain", failed.Detail);
        Assert.False(!isAllowed && elsewhere.HasPending, "the issuer's certificate was asked for");
    }

    [Fact]
    public async Task The_issuer_of_this_sides_own_certificate_is_not_fetched_either()
    {
        await using var fixture = new StreamFixture();
        using var elsewhere = new RawListener();
        StreamSocket server = fixture.Context.CreateStream();
        StreamSocket client = fixture.Context.CreateStream();
        server.Options.Tls.Server = new() { ServerCertificate = IssuedAt(elsewhere).Leaf };
        client.Options.Tls.VerifyPeer = false;
        string endpoint = server.Bind("tls://127.0.0.1:0");
        for (int i = 0; i < 2; i++)
        {
            await client.ConnectAsync(endpoint, Guard.Token).Guarded();
            await server.NextConnectedAsync();
            Assert.False(elsewhere.HasPending, "the issuer's certificate was asked for");
        }
    }

    [Fact]
    public async Task A_certificate_that_the_application_puts_in_its_options_in_place_of_another_is_shown_from_then_on()
    {
        await using var fixture = new StreamFixture();
        StreamSocket server = fixture.Context.CreateStream();
        StreamSocket client = fixture.Context.CreateStream();
        SslServerAuthenticationOptions options = server.Options.Tls.Server = new() { ServerCertificate = _own.Server };
        client.Options.Tls.CaFile = _own.CaFile;
        string endpoint = server.Bind("tls://127.0.0.1:0");
        foreach (X509Certificate2 shown in new[] { _own.Server, _own.Issue("CN=next", ["localhost", "127.0.0.1"]) })
        {
            options.ServerCertificate = shown;
            await using StreamPipe pipe = await client.ConnectPipeAsync(endpoint, Guard.Token).Guarded();
            Assert.Equal(shown.Subject, pipe.RemoteCertificate?.Subject);
        }
    }

    private (string Root, X509Certificate2 Leaf) IssuedAt(RawListener elsewhere) =>
        _own.WithIssuerElsewhere(elsewhere.Endpoint.Replace("tcp:", "http:", StringComparison.Ordinal));

    private void Set(TlsOptions judge, bool isConnecter, string what, X509ChainPolicy? policy)
    {
        SslStreamCertificateContext? context = what is Context
            ? SslStreamCertificateContext.Create(_own.Server, additionalCertificates: null, offline: true) : null;
        if (what is Policy)
        {
            judge.ChainPolicy = policy;
        }
        else if (isConnecter)
        {
            judge.Client = new() { CertificateChainPolicy = policy, ClientCertificateContext = context };
        }
        else
        {
            judge.Server = new()
            {
                CertificateChainPolicy = policy,
                ServerCertificate = context is null ? _own.Server : null,
                ServerCertificateContext = context,
                ClientCertificateRequired = true
            };
        }
    }
}
