using System.Net.Security;
using System.Security.Cryptography.X509Certificates;
using Net.Zlink.Monitoring;
using Net.Zlink.Tests.Support;
using Net.Zlink.Transports.Tls;
using Xunit;

namespace Net.Zlink.Tests.Transports.Tls;

/// <summary>Whom each side trusts where the application has a chain policy, or TLS options, of its own: CaFile and TrustSystem hold all the
/// same.</summary>
public sealed class ChainPolicyTests : IDisposable
{
    private const string Policy = "a policy";
    private const string Options = "options without a policy";
    private const string OptionsWithPolicy = "options with a policy";

    private readonly Authorities _own = new();

    public static TheoryData<bool, string> Rows() => new()
    {
        { true, Policy },
        { true, Options },
        { true, OptionsWithPolicy },
        { false, Policy },
        { false, Options },
        { false, OptionsWithPolicy },
    };

    public void Dispose() => _own.Dispose();

    [Theory]
    [MemberData(nameof(Rows))]
    public async Task A_peer_of_the_authority_in_CaFile_is_accepted(bool isConnecter, string what) =>
        Assert.Equal("", await RefusalAsync(isConnecter, judge => Set(judge, isConnecter, what).CaFile = _own.CaFile));

    [Theory]
    [MemberData(nameof(Rows))]
    public async Task A_peer_of_another_authority_than_that_in_CaFile_is_refused(bool isConnecter, string what) =>
        AssertRefused(await RefusalAsync(isConnecter, judge => Set(judge, isConnecter, what).CaFile = _own.Other.CaFile));

    [Theory]
    [MemberData(nameof(Rows))]
    public async Task Without_TrustSystem_and_CaFile_every_peer_is_refused(bool isConnecter, string what) =>
        AssertRefused(await RefusalAsync(isConnecter, judge => Set(judge, isConnecter, what).TrustSystem = false));

    [Theory]
    [InlineData(true, Policy)]
    [InlineData(true, OptionsWithPolicy)]
    [InlineData(false, Policy)]
    [InlineData(false, OptionsWithPolicy)]
    public async Task An_authority_in_the_policy_itself_is_trusted_beside_that_in_CaFile_and_without_TrustSystem(
        bool isConnecter, string what)
    {
        X509ChainPolicy policy = NewPolicy();
        policy.CustomTrustStore.ImportFromPemFile(_own.CaFile);
        Assert.Equal("", await RefusalAsync(isConnecter, judge => Set(judge, isConnecter, what, policy).CaFile = _own.Other.CaFile));
        Assert.Equal("", await RefusalAsync(isConnecter, judge => Set(judge, isConnecter, what, policy).TrustSystem = false));

        // The base library adds to a policy what the peer sent, and what for: to a copy.
        Assert.Equal(X509ChainTrustMode.System, policy.TrustMode);
        Assert.Single(policy.CustomTrustStore);
        Assert.Empty(policy.ExtraStore);
        Assert.Empty(policy.ApplicationPolicy);
    }

    [Theory]
    [InlineData(Policy)]
    [InlineData(OptionsWithPolicy)]
    public async Task The_time_that_the_policy_is_for_stays(string what)
    {
        X509Certificate2 expired = _own.Issue("CN=old", ["localhost", "127.0.0.1"], daysUntilEnd: -1);
        X509ChainPolicy policy = NewPolicy();
        Assert.Contains("not valid", await RefusalAsync(
            isConnecter: true, judge => Set(judge, isConnecter: true, Policy, policy).CaFile = _own.CaFile, expired),
            StringComparison.Ordinal);
        policy.VerificationTime = DateTime.Now.AddDays(-2);
        Assert.Equal("", await RefusalAsync(isConnecter: true, judge => Set(judge, isConnecter: true, what, policy).CaFile = _own.CaFile,
            expired));
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_certificate_contexts_trust_list_is_trusted_and_no_other_authority(bool isConnecter)
    {
        Assert.Equal("", await RefusalAsync(isConnecter, judge => SetTrust(judge, isConnecter, _own.CaFile)));
        AssertRefused(await RefusalAsync(isConnecter, judge => SetTrust(judge, isConnecter, _own.Other.CaFile)));
    }

    // It is read where the base library keeps it to itself: a version that keeps it elsewhere fails here.
    [Fact]
    public void Whether_a_certificates_context_says_whom_to_trust_is_known()
    {
        Assert.True(ChainPolicies.MayHaveTrust(ContextTrusting(_own.CaFile)));
        Assert.False(ChainPolicies.MayHaveTrust(SslStreamCertificateContext.Create(
            _own.Server, additionalCertificates: null, offline: true)));
        Assert.False(ChainPolicies.MayHaveTrust(context: null));
    }

    // What the system trusts a test cannot add to; so this looks at what the base library is given.
    [Theory]
    [MemberData(nameof(Rows))]
    public void The_systems_authorities_count_only_while_there_is_no_CaFile_and_TrustSystem_is_on(bool isConnecter, string what)
    {
        var tls = new TlsOptions();
        Set(tls, isConnecter, what);
        Assert.Equal(X509ChainTrustMode.System, PolicyOf(tls, isConnecter)?.TrustMode ?? X509ChainTrustMode.System);
        tls.TrustSystem = false;
        Assert.Equal(X509ChainTrustMode.CustomRootTrust, PolicyOf(tls, isConnecter)?.TrustMode);
        Assert.Equal(0, PolicyOf(tls, isConnecter)?.CustomTrustStore.Count);
        (tls.TrustSystem, tls.CaFile) = (true, _own.CaFile);
        Assert.Equal(X509ChainTrustMode.CustomRootTrust, PolicyOf(tls, isConnecter)?.TrustMode);
        Assert.Equal(1, PolicyOf(tls, isConnecter)?.CustomTrustStore.Count);
    }

    [Theory]
    [InlineData("tls")]
    [InlineData("wss")]
    public async Task A_file_of_authorities_that_is_missing_fails_a_bind_with_options_of_the_applications_own(string scheme)
    {
        await using var fixture = new ContextFixture();
        DealerSocket server = fixture.Context.CreateDealer();
        server.Options.Tls.Server = new() { ServerCertificate = _own.Server };
        server.Options.Tls.CaFile = Path.Combine(_own.Folder, "missing.crt");
        Assert.Contains("missing.crt", Assert.Throws<ZlinkException>(() => server.Bind($"{scheme}://127.0.0.1:0")).Message,
            StringComparison.Ordinal);
    }

    private SslStreamCertificateContext ContextTrusting(string caFile)
    {
        var trusted = new X509Certificate2Collection();
        trusted.ImportFromPemFile(caFile);
        return SslStreamCertificateContext.Create(
            _own.Server, additionalCertificates: null, offline: true, SslCertificateTrust.CreateForX509Collection(trusted));
    }

    private void SetTrust(TlsOptions judge, bool isConnecter, string caFile)
    {
        if (isConnecter)
        {
            judge.Client = new() { ClientCertificateContext = ContextTrusting(caFile) };
        }
        else
        {
            judge.Server = new() { ServerCertificateContext = ContextTrusting(caFile), ClientCertificateRequired = true };
        }
    }

    private static X509ChainPolicy NewPolicy() => new() { RevocationMode = X509RevocationMode.NoCheck };

    private static X509ChainPolicy? PolicyOf(TlsOptions tls, bool isConnecter)
    {
        TlsOptions settings = tls.Copy();
        var credentials = new TlsCredentials(settings);
        return isConnecter
            ? credentials.ForClient(new CertificateValidator(settings, "localhost"), "localhost").CertificateChainPolicy
            : credentials.ForServer(new CertificateValidator(settings, host: null)).CertificateChainPolicy;
    }

    private static void AssertRefused(string refusal) => Assert.Matches("which this side does not trust|certificate chain", refusal);

    private TlsOptions Set(TlsOptions judge, bool isConnecter, string what, X509ChainPolicy? policy = null)
    {
        X509ChainPolicy? given = string.Equals(what, Options, StringComparison.Ordinal) ? null : policy ?? NewPolicy();
        if (string.Equals(what, Policy, StringComparison.Ordinal))
        {
            judge.ChainPolicy = given;
        }
        else if (isConnecter)
        {
            judge.Client = new() { CertificateChainPolicy = given };
        }
        else
        {
            judge.Server = new() { CertificateChainPolicy = given, ServerCertificate = _own.Server, ClientCertificateRequired = true };
        }

        return judge;
    }

    /// <summary>Connects, both sides with a certificate of the test's own authority. What the one that judges says of it; empty: it
    /// accepts.</summary>
    private async Task<string> RefusalAsync(bool isConnecter, Action<TlsOptions> change, X509Certificate2? shown = null)
    {
        await using var fixture = new ContextFixture();
        DealerSocket server = fixture.Context.CreateDealer(new DealerOptions { Linger = TimeSpan.Zero });
        DealerSocket client = fixture.Context.CreateDealer(
            new DealerOptions { Linger = TimeSpan.Zero, ReconnectInterval = TimeSpan.FromHours(1) });
        server.Options.Tls.Certificate = isConnecter ? shown ?? _own.Server : _own.Server;
        server.Options.Tls.RequireClientCertificate = !isConnecter;
        client.Options.Tls.Certificate = _own.Server;
        client.Options.Tls.VerifyPeer = isConnecter;
        DealerSocket judge = isConnecter ? client : server;
        change(judge.Options.Tls);
        using EventReader monitor = judge.ReadEvents(SocketEventTypes.ConnectionReady | SocketEventTypes.HandshakeFailedNoDetail);
        client.Connect(server.Bind("tls://127.0.0.1:0"));
        SocketEvent seen = await monitor.ReadAsync(Guard.Token).Guarded();
        return seen.Type == SocketEventTypes.ConnectionReady ? "" : seen.Detail!;
    }
}
