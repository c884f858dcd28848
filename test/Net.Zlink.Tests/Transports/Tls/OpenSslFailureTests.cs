using Net.Zlink.Monitoring;
using Net.Zlink.Porting;
using Net.Zlink.Tests.Support;
using Samples;
using Xunit;

namespace Net.Zlink.Tests.Transports.Tls;

/// <summary>Certificates that will not do, with OpenSSL's command line at the other end: our monitor says why, whoever it was that
/// refused.</summary>
public sealed class OpenSslFailureTests : IDisposable
{
    private const SocketEventTypes Events = SocketEventTypes.Accepted | SocketEventTypes.Connected | SocketEventTypes.ConnectionReady
        | SocketEventTypes.HandshakeFailedNoDetail | SocketEventTypes.Disconnected;

    private static readonly string[] Versions = ["-tls1_2", "-tls1_3"];

    private readonly Authorities _own = new();

    /// <summary>TLS version, what is wrong, what our monitor says (OpenSSL's alert, where it is the one that refuses), what OpenSSL
    /// says.</summary>
    public static TheoryData<string, string, string, string> ClientRows()
    {
        var rows = new TheoryData<string, string, string, string>();
        foreach (string version in Versions)
        {
            rows.Add(version, "expired", "the peer refused the TLS handshake|alert certificate expired", "certificate has expired");
            rows.Add(version, "wrong name", "the peer refused the TLS handshake|alert bad certificate", "IP address mismatch");
            rows.Add(version, "unknown authority", "the peer refused the TLS handshake|alert unknown ca",
                "unable to get local issuer certificate");
            rows.Add(version, "no client certificate", "the client sent no certificate, but one is required", "");
        }

        return rows;
    }

    /// <summary>TLS version, what is wrong, what our monitor says.</summary>
    public static TheoryData<string, string, string> ServerRows()
    {
        var rows = new TheoryData<string, string, string>();
        foreach (string version in Versions)
        {
            rows.Add(version, "expired", "is not valid now: it is from");
            rows.Add(version, "wrong name", "is not for \"127.0.0.1\" but for \"elsewhere.example\"");
            rows.Add(version, "unknown authority", "is issued by \"CN=Zlink test authority\", which this side does not trust");
        }

        return rows;
    }

    public void Dispose() => _own.Dispose();

    [Theory]
    [MemberData(nameof(ClientRows))]
    public async Task OpenSSLs_client_and_our_listener_both_name_the_bad_certificate(
        string version, string what, string ours, string theirs)
    {
        SkipWithoutOpenSsl();
        await using var context = new ZlinkContext();
        await using DealerSocket server = context.CreateDealer();
        TlsOptions tls = server.Options.Tls;
        tls.Certificate = Certificate(what);
        if (what is "no client certificate")
        {
            (tls.RequireClientCertificate, tls.CaFile) = (true, _own.CaFile);
        }

        using EventReader monitor = server.ReadEvents(Events);
        int port = new Uri(server.Bind("tls://127.0.0.1:0")).Port;
        ProgramEnd end = await Programs.Installed(
            "openssl", _own.Folder, "s_client", "-connect", $"127.0.0.1:{port}", version, "-CAfile", CaFile(what), "-verify_return_error",
                "-verify_ip", "127.0.0.1").RunAsync();
        Assert.Contains(theirs, end.Errors + end.Output, StringComparison.Ordinal);
        if (theirs.Length > 0)
        {
            Assert.NotEqual(0, end.Code);
        }

        Assert.Equal(SocketEventTypes.Accepted, (await monitor.ReadAsync(Guard.Token).Guarded()).Type);
        await AssertFailedAsync(monitor, ours);
        Assert.Equal(0, server.GetStatistics().Peers);
    }

    [Theory]
    [MemberData(nameof(ServerRows))]
    public async Task OpenSSLs_server_with_a_bad_certificate_is_refused_with_the_reason(string version, string what, string ours)
    {
        SkipWithoutOpenSsl();
        _own.WriteFiles("shown", Certificate(what));
        await using ChildProcess openssl = Serve(version, "shown");
        await AssertNotConnectedAsync(openssl, CaFile(what), ours);
    }

    [Fact]
    public async Task OpenSSLs_server_refuses_a_client_without_a_certificate_in_TLS_1_2()
    {
        SkipWithoutOpenSsl();
        await using ChildProcess openssl = ServeToKnownClients("-tls1_2");
        await AssertNotConnectedAsync(openssl, _own.CaFile, "the peer refused the TLS handshake|alert handshake failure");
        Assert.Contains("peer did not return a certificate", (await openssl.EndAsync()).Errors, StringComparison.Ordinal);
    }

    [Fact]
    public async Task OpenSSLs_server_disconnects_a_client_without_a_certificate_after_the_handshake_of_TLS_1_3()
    {
        SkipWithoutOpenSsl();
        await using ChildProcess openssl = ServeToKnownClients("-tls1_3");
        await using var fixture = new StreamFixture();
        StreamSocket client = Client(fixture, _own.CaFile);
        using EventReader monitor = client.ReadEvents(Events);
        uint id = await client.ConnectAsync(await EndpointOfAsync(openssl), Guard.Token).Guarded();
        Assert.Equal(id, await client.NextConnectedAsync());
        Assert.Equal((id, DisconnectReason.TransportError), await client.NextDisconnectedAsync());
        Assert.Contains("alert certificate required", (await monitor.NextAsync(SocketEventTypes.Disconnected)).Detail,
            StringComparison.Ordinal);
        Assert.Contains("peer did not return a certificate", (await openssl.EndAsync()).Errors, StringComparison.Ordinal);
    }

    private static void SkipWithoutOpenSsl() =>
        Assert.SkipUnless(Programs.Find("openssl") is not null, "NOT TESTED HERE: the program openssl is not installed");

    private static async Task<string> EndpointOfAsync(ChildProcess server)
    {
        const string Announcement = "ACCEPT ";
        return $"tls://{(await server.ReadLineAsync(Announcement))[Announcement.Length..]}";
    }

    private static StreamSocket Client(StreamFixture fixture, string caFile)
    {
        StreamSocket client = fixture.Context.CreateStream();
        client.Options.Tls.CaFile = caFile;
        return client;
    }

    /// <summary>Our client is told why, in the first of the words at least, and so is its monitor, in all of them.</summary>
    private static async Task AssertNotConnectedAsync(ChildProcess server, string caFile, string words)
    {
        await using var fixture = new StreamFixture();
        StreamSocket client = Client(fixture, caFile);
        using EventReader monitor = client.ReadEvents(Events);
        string endpoint = await EndpointOfAsync(server);
        ZlinkException refused = await Assert.ThrowsAsync<ZlinkException>(() => client.ConnectAsync(endpoint, Guard.Token).Guarded());
        Assert.Contains(words.Split('|')[0], refused.Message, StringComparison.Ordinal);
        Assert.Equal(SocketEventTypes.Connected, (await monitor.ReadAsync(Guard.Token).Guarded()).Type);
        await AssertFailedAsync(monitor, words);
    }

    private static async Task AssertFailedAsync(EventReader monitor, string words)
    {
        SocketEvent failed = await monitor.ReadAsync(Guard.Token).Guarded();
        Assert.Equal(SocketEventTypes.HandshakeFailedNoDetail, failed.Type);
        foreach (string part in words.Split('|'))
        {
            Assert.Contains(part, failed.Detail, StringComparison.Ordinal);
        }

        SocketEvent disconnected = await monitor.ReadAsync(Guard.Token).Guarded();
        Assert.Equal((SocketEventTypes.Disconnected, 3L, failed.Detail),
            (disconnected.Type, disconnected.ToNativeValue(), disconnected.Detail));
    }

    /// <summary>One connection, at a port of the system's choice.</summary>
    private ChildProcess Serve(string version, string files, params string[] more) =>
        Programs.Installed("openssl", _own.Folder, ["s_server", "-accept", "127.0.0.1:0", version, "-cert", $"{files}.crt",
            "-key", $"{files}.key", "-naccept", "1", .. more]).Start();

    private ChildProcess ServeToKnownClients(string version) => Serve(version, "server", "-Verify", "1", "-CAfile", "ca.crt");

    /// <summary>Whom the client trusts.</summary>
    private string CaFile(string what) => what is "unknown authority" ? _own.Other.CaFile : _own.CaFile;

    private System.Security.Cryptography.X509Certificates.X509Certificate2 Certificate(string what) => what switch
    {
        "expired" => _own.Issue("CN=old", ["localhost", "127.0.0.1"], daysUntilEnd: -1),
        "wrong name" => _own.Issue("CN=else", ["elsewhere.example"]),
        _ => _own.Server,
    };
}
