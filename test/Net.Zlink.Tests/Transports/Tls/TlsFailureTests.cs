using System.Net.Security;
using System.Security.Authentication;
using Net.Zlink.Monitoring;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Transports.Tls;

/// <summary>TLS handshakes that fail: both sides say why in an event, count it by cause, and the listener goes on.</summary>
public sealed class TlsFailureTests : IDisposable
{
    // The base library judges a certificate after its own part of the handshake: what the other side sees is a connection that is complete,
    // and then ends.
    private const string Ended = "";

    private static readonly Dictionary<string, Case> Cases = new(StringComparer.Ordinal)
    {
        ["expired"] = new(
            "is not valid now: it is from", Ended,
            static (own, server, _) => (server.CertificateFile, server.KeyFile) =
                own.WriteFiles("old", own.Issue("CN=old", ["localhost"], daysUntilEnd: -1))),
        ["not valid yet"] = new(
            "is not valid now: it is from", Ended,
            static (own, server, _) => (server.CertificateFile, server.KeyFile) =
                own.WriteFiles("new", own.Issue("CN=new", ["localhost"], daysUntilEnd: 400))),
        ["wrong name"] = new(
            "is not for \"localhost\" but for \"elsewhere.example\"; set Tls.HostName", Ended,
            static (own, server, _) => (server.CertificateFile, server.KeyFile) =
                own.WriteFiles("else", own.Issue("CN=else", ["elsewhere.example"]))),
        ["wrong HostName"] = new(
            "is not for \"elsewhere.example\" but for \"localhost\", \"127.0.0.1\", \"::1\"; set Tls.HostName", Ended,
            static (_, _, client) => client.HostName = "elsewhere.example"),
        ["another authority"] = new(
            "is issued by \"CN=Zlink test authority\", which this side does not trust; name the authority's file in Tls.CaFile", Ended,
            static (own, _, client) => client.CaFile = own.Other.CaFile),
        ["no authority but the system's"] = new(
            "which this side does not trust; name the authority's file in Tls.CaFile", Ended,
            static (_, _, client) => client.CaFile = ""),
        ["no authority at all"] = new(
            "which this side does not trust; name the authority's file in Tls.CaFile", Ended,
            static (_, _, client) => (client.CaFile, client.TrustSystem) = ("", false)),
        ["the application refuses the server"] = new(
            "the application's own check refused the certificate \"CN=server\"", Ended,
            static (_, _, client) => client.Validation = static (_, _, _, _) => false),
        ["the application's check of the server throws"] = new(
            "the application's own check of the certificate \"CN=server\" threw NotSupportedException: my check", Ended,
            static (_, _, client) => client.Validation = static (_, _, _, _) => throw new NotSupportedException("my check")),
        ["no client certificate"] = new(
            Ended, "the client sent no certificate, but one is required",
            static (own, server, _) => (server.RequireClientCertificate, server.CaFile) = (true, own.CaFile)),
        ["no client certificate, TLS 1.2"] = new(
            Ended, "the client sent no certificate, but one is required",
            static (own, server, _) => (server.RequireClientCertificate, server.CaFile, server.Protocols) =
                (true, own.CaFile, SslProtocols.Tls12)),
        ["a client certificate of another authority"] = new(
            Ended, "is issued by \"CN=somebody else\", which this side does not trust; name the authority's file in Tls.CaFile",
            static (own, server, client) =>
            {
                (server.RequireClientCertificate, server.CaFile, server.Protocols) = (true, own.CaFile, SslProtocols.Tls12);
                client.Certificate = own.Other.Server;
            }),
        ["a client certificate of another authority, where VerifyPeer is off"] = new( // It is for connecting only.
            Ended, "is issued by \"CN=somebody else\", which this side does not trust; name the authority's file in Tls.CaFile",
            static (own, server, client) =>
            {
                (server.RequireClientCertificate, server.CaFile, server.Protocols) = (true, own.CaFile, SslProtocols.Tls12);
                server.VerifyPeer = false;
                client.Certificate = own.Other.Server;
            }),
        ["the application refuses the client"] = new(
            Ended, "the application's own check refused the certificate \"CN=server\"",
            static (own, server, client) =>
            {
                (server.RequireClientCertificate, server.CaFile, server.Protocols) = (true, own.CaFile, SslProtocols.Tls12);
                server.Validation = static (_, _, _, _) => false;
                client.Certificate = own.Server;
            }),
        ["the application's choice of a certificate throws"] = new(
            "", "the application's TLS options cannot be used: my choice",
            static (_, server, _) => server.Server = new SslServerAuthenticationOptions
            {
                ServerCertificateSelectionCallback =
                static (_, _) => throw new NotSupportedException("my choice")
            }),
        ["options of the application's own refuse"] = new(
            "certificate", Ended,
            static (_, _, client) => client.Client = new SslClientAuthenticationOptions
            {
                TargetHost = "localhost",
                RemoteCertificateValidationCallback = static (_, _, _, _) => false
            }),
        ["no version in common"] = new(
            "", "",
            static (_, server, client) => (server.Protocols, client.Protocols) = (SslProtocols.Tls12, SslProtocols.Tls13)),
        ["the client's own files are missing"] = new(
            "the files named in Tls cannot be used", "the connection was lost during the TLS handshake",
            static (_, _, client) => client.CertificateFile = "/nowhere/client.crt"),
        ["the client's own certificate has no key"] = new(
            "the application's TLS options cannot be used: the certificate has no private key; load it together with "
                + "its key", "the connection was lost during the TLS handshake",
            static (own, _, client) => client.Certificate = own.WithoutKey()),
        ["the server's alternative names are malformed"] = new(
            "the certificate \"CN=odd\" is not for \"localhost\": its alternative names (subjectAltName) are malformed; the server needs "
                + "a new certificate", Ended,
            static (own, server, client) =>
            {
                server.Certificate = own.WithMalformedNames();
                client.CaFile = own.Write("odd.crt", server.Certificate!.ExportCertificatePem());
            }),
        ["the authorities are missing"] = new(
            "/nowhere/ca.crt", "the connection was lost during the TLS handshake",
            static (_, _, client) => client.CaFile = "/nowhere/ca.crt"),
    };

    private readonly Authorities _own = new();

    public static TheoryData<string, string> Rows()
    {
        var rows = new TheoryData<string, string>();
        foreach (string name in Cases.Keys)
        {
            rows.Add("tls", name);
            rows.Add("wss", name);
        }

        return rows;
    }

    public void Dispose() => _own.Dispose();

    [Theory]
    [MemberData(nameof(Rows))]
    public async Task A_failed_TLS_handshake_is_explained_at_both_ends(string scheme, string name)
    {
        Case one = Cases[name];
        await using var context = new ZlinkContext();
        await using DealerSocket server = context.CreateDealer();
        await using DealerSocket client = context.CreateDealer();
        client.Options.ReconnectInterval = TimeSpan.FromHours(1);
        (server.Options.Tls.CertificateFile, server.Options.Tls.KeyFile) = (_own.CertificateFile, _own.KeyFile);
        client.Options.Tls.CaFile = _own.CaFile;
        one.Arrange(_own, server.Options.Tls, client.Options.Tls);
        const SocketEventTypes Events = SocketEventTypes.HandshakeFailedNoDetail | SocketEventTypes.Disconnected
            | SocketEventTypes.Connected | SocketEventTypes.Accepted;
        using EventReader atServer = server.ReadEvents(Events);
        using EventReader atClient = client.ReadEvents(Events);
        string endpoint = $"{scheme}://localhost:{new Uri(server.Bind($"{scheme}://localhost:0")).Port}";
        client.Connect(endpoint);
        await AssertFailedAsync(atServer, SocketEventTypes.Accepted, one.Server);
        await AssertFailedAsync(atClient, SocketEventTypes.Connected, one.Client);
        await UntilCountedAsync(client);
        await UntilCountedAsync(server);
        if (one.Client.Length > 0)
        {
            Assert.Equal(name.Contains("version", StringComparison.Ordinal) ? 0 : 1, client.GetStatistics().HandshakeFailures.Certificate);
        }

        HandshakeFailureCounts failures = server.GetStatistics().HandshakeFailures;
        if (one.Server.Length > 0)
        {
            Assert.Equal(one.Server.Contains("lost", StringComparison.Ordinal) ? 0 : 1, failures.Certificate);
        }

        Assert.Equal(0, server.GetStatistics().Peers);

        // The listener goes on: unless it is itself what is wrong, a client that does it right is served.
        if (server.Options.Tls.Server is null && !name.Contains("version", StringComparison.Ordinal)
            && !server.Options.Tls.RequireClientCertificate)
        {
            await using DealerSocket next = context.CreateDealer();
            next.Options.Tls.VerifyPeer = false;
            next.Connect(endpoint);
            await next.SendAsync("x"u8.ToArray(), Guard.Token).Guarded();
            using Message message = await server.ReceiveAsync(Guard.Token).Guarded();
        }
    }

    [Fact]
    public async Task Callbacks_whose_exceptions_have_no_words_end_their_handshakes_and_keep_no_place()
    {
        bool isFirst = true;
        await using var context = new ZlinkContext(new ZlinkContextOptions { MaxHandshakes = 1 });
        StreamSocket server = context.CreateStream();
        server.Options.MaxConnections = 1;
        server.Options.Tls.Server = new SslServerAuthenticationOptions
        {
            ServerCertificateSelectionCallback = (_, _) => Interlocked.Exchange(ref isFirst, false) ? throw new WordlessException()
                : _own.Server,
        };
        string endpoint = server.Bind("tls://127.0.0.1:0");
        StreamSocket client = context.CreateStream();
        client.Options.Tls.CaFile = _own.CaFile;
        await Assert.ThrowsAsync<ZlinkException>(() => client.ConnectAsync(endpoint, Guard.Token).Guarded());
        await Guard.UntilAsync(() => server.GetStatistics().FailedHandshakes == 1, "the server's side failed");

        StreamSocket wordless = context.CreateStream();
        wordless.Options.Tls.Validation = static (_, _, _, _) => throw new WordlessException();
        ZlinkException thrown = await Assert.ThrowsAsync<ZlinkException>(() => wordless.ConnectAsync(endpoint, Guard.Token).Guarded());
        Assert.Contains(nameof(WordlessException), thrown.Message, StringComparison.Ordinal);
        await Guard.UntilAsync(() => server.GetStatistics().ClosedConnections + server.GetStatistics().FailedHandshakes == 2,
            "that connection is gone");

        await client.ConnectAsync(endpoint, Guard.Token).Guarded();
    }

    [Fact]
    public async Task A_connect_that_awaits_its_result_fails_with_the_words()
    {
        await using var fixture = new StreamFixture();
        StreamSocket server = fixture.Context.CreateStream();
        server.Options.Tls.Certificate = _own.Server;
        StreamSocket client = fixture.Context.CreateStream();
        client.Options.Tls.CaFile = _own.CaFile;
        client.Options.Tls.HostName = "elsewhere.example";
        string endpoint = server.Bind("tls://127.0.0.1:0");
        ZlinkException refused = await Assert.ThrowsAsync<ZlinkException>(() => client.ConnectAsync(endpoint, Guard.Token).Guarded());
        Assert.Contains("is not for \"elsewhere.example\"", refused.Message, StringComparison.Ordinal);
        Assert.Equal(1, client.GetStatistics().FailedHandshakes);
        uint id = await server.NextConnectedAsync();
        Assert.Equal(id, (await server.NextDisconnectedAsync()).PeerId);
    }

    [Theory]
    [InlineData("GET / HTTP/1.1\r\nHost: a\r\n\r\n")]
    [InlineData("Z\u0001\u0002\u0000\u0000\u0000\u0000\u0009")]
    [InlineData("\u0016\u0003\u0001\u00ff\u00ff\u0001")]
    [InlineData("\u0015\u0003\u0003\u0000\u0002\u0002\u0028")]
    [InlineData("")]
    public async Task Bytes_that_are_no_TLS_are_a_failed_handshake(string bytes)
    {
        await using var fixture = new StreamFixture();
        StreamSocket server = fixture.Context.CreateStream();
        server.Options.Tls.Certificate = _own.Server;
        using EventReader monitor = server.ReadEvents(SocketEventTypes.HandshakeFailedNoDetail | SocketEventTypes.Disconnected);
        string endpoint = server.Bind("tls://127.0.0.1:0");
        RawPeer peer = await fixture.ConnectAsync(endpoint.Replace("tls:", "tcp:", StringComparison.Ordinal));
        await peer.SendAsync(System.Text.Encoding.Latin1.GetBytes(bytes));
        peer.EndSending();
        SocketEvent failed = await monitor.NextAsync(SocketEventTypes.HandshakeFailedNoDetail);
        Assert.False(string.IsNullOrEmpty(failed.Detail));
        await monitor.NextAsync(SocketEventTypes.Disconnected);
        await peer.ReadToAnyEndAsync();
        await fixture.UntilAsync(() => server.GetStatistics().FailedHandshakes == 1);
    }

    [Theory]
    [InlineData("tls")]
    [InlineData("wss")]
    public async Task A_certificate_without_its_key_fails_each_attempt_of_a_connect(string scheme)
    {
        await using var fixture = new StreamFixture();
        DealerSocket server = fixture.Context.CreateDealer();
        server.Options.Tls.Certificate = _own.Server;
        DealerSocket client = fixture.Context.CreateDealer(
            new DealerOptions { Linger = TimeSpan.Zero, ReconnectInterval = TimeSpan.FromMilliseconds(1) });
        client.Options.Tls.CaFile = _own.CaFile;
        client.Options.Tls.Certificate = _own.WithoutKey();
        using EventReader monitor = client.ReadEvents(SocketEventTypes.HandshakeFailedNoDetail);
        string endpoint = server.Bind($"{scheme}://127.0.0.1:0");
        client.Connect(endpoint);
        for (int i = 0; i < 3; i++)
        {
            Assert.Contains("has no private key", (await monitor.NextAsync(SocketEventTypes.HandshakeFailedNoDetail)).Detail,
                StringComparison.Ordinal);
        }

        StreamSocket stream = fixture.Context.CreateStream();
        stream.Options.Tls.Certificate = client.Options.Tls.Certificate;
        ZlinkException refused = await Assert.ThrowsAsync<ZlinkException>(() => stream.ConnectAsync(endpoint, Guard.Token).Guarded());
        Assert.Contains("has no private key", refused.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_certificate_without_its_key_fails_a_bind()
    {
        await using var fixture = new StreamFixture();
        StreamSocket server = fixture.Context.CreateStream();
        server.Options.Tls.Certificate = _own.WithoutKey();
        ZlinkException refused = Assert.Throws<ZlinkException>(() => server.Bind("tls://127.0.0.1:0"));
        Assert.Contains("has no private key; load it together with its key", refused.Message, StringComparison.Ordinal);
    }

    private static async Task AssertFailedAsync(EventReader monitor, SocketEventTypes first, string words)
    {
        Assert.Equal(first, (await monitor.ReadAsync(Guard.Token).Guarded()).Type);
        SocketEvent failed = await monitor.ReadAsync(Guard.Token).Guarded();
        Assert.Equal(SocketEventTypes.HandshakeFailedNoDetail, failed.Type);
        Assert.False(string.IsNullOrEmpty(failed.Detail));
        Assert.Contains(words, failed.Detail, StringComparison.Ordinal);
        SocketEvent disconnected = await monitor.ReadAsync(Guard.Token).Guarded();
        Assert.Equal(SocketEventTypes.Disconnected, disconnected.Type);
        if (words.Length > 0)
        {
            Assert.Equal(failed.Detail, disconnected.Detail);
        }
    }

    // Counted a moment after the event.
    private static async Task UntilCountedAsync(DealerSocket socket)
    {
        await Guard.UntilAsync(() => socket.GetStatistics().HandshakeFailures.Total != 0, "the failed handshake is counted");
        Assert.Equal(1, socket.GetStatistics().HandshakeFailures.Total);
    }

    /// <summary>What is wrong, and what the client's and the server's event say.</summary>
    private sealed record Case(string Client, string Server, Action<Authorities, TlsOptions, TlsOptions> Arrange);
}
