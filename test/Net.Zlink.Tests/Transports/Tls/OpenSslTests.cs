using System.Net;
using System.Net.Sockets;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Transports.Tls;

/// <summary>Against OpenSSL's command line as client and as server: STREAM's bytes go through its standard input and output.</summary>
public sealed class OpenSslTests : IDisposable
{
    private readonly Authorities _own = new();

    public void Dispose() => _own.Dispose();

    [Theory]
    [InlineData("-tls1_2")]
    [InlineData("-tls1_3")]
    public async Task Its_client_is_served(string version)
    {
        SkipWithoutOpenSsl();
        await using var fixture = new StreamFixture();
        StreamSocket server = Listen(fixture, out string port);
        await using var openssl = new ProgramProcess("openssl", _own.Folder, "s_client", "-connect", $"127.0.0.1:{port}", version, "-CAfile", "ca.crt", "-verify_return_error", "-verify_ip", "127.0.0.1", "-quiet");
        uint id = await server.NextConnectedAsync();
        foreach (int size in new[] { 1, 1_000, 100_000 })
        {
            byte[] payload = Wire.Pattern(size);
            await openssl.Input.WriteAsync(Wire.Frame(payload), Guard.Token);
            await openssl.Input.FlushAsync(Guard.Token);
            Wire.AssertSame(payload, await server.NextDataAsync(id));
            Assert.True(server.TrySend(id, payload));
            byte[] back = new byte[size + Wire.HeaderSize];
            await openssl.Output.ReadExactlyAsync(back, Guard.Token).Guarded();
            Wire.AssertSame(Wire.Frame(payload), back);
        }

        server.Disconnect(id);
        Assert.Equal(0, await openssl.Output.ReadAsync(new byte[1], Guard.Token).Guarded()); // It sees the end, and ends.
    }

    [Theory]
    [InlineData("expired", "certificate has expired")]
    [InlineData("wrong name", "mismatch")]
    [InlineData("unknown authority", "unable to")]
    [InlineData("no client certificate", "")]
    public async Task Its_client_and_ours_agree_on_what_is_wrong(string what, string words)
    {
        SkipWithoutOpenSsl();
        await using var fixture = new StreamFixture();
        string ca = "ca.crt";
        StreamSocket server = Listen(fixture, out string port, tls =>
        {
            switch (what)
            {
                case "expired":
                    tls.Certificate = _own.Issue("CN=old", ["localhost"], [IPAddress.Loopback], daysUntilEnd: -1);
                    break;
                case "wrong name":
                    tls.Certificate = _own.Issue("CN=else", ["elsewhere.example"], []);
                    break;
                case "unknown authority":
                    ca = _own.Other.CaFile;
                    break;
                default:
                    (tls.RequireClientCertificate, tls.CaFile) = (true, _own.CaFile);
                    break;
            }
        });
        (int code, string output) = await ProgramProcess.RunAsync("openssl", _own.Folder, "s_client", "-connect", $"127.0.0.1:{port}", "-tls1_2", "-CAfile", ca, "-verify_return_error", "-verify_ip", "127.0.0.1");
        Assert.Contains(words, output, StringComparison.Ordinal);
        if (words.Length > 0)
        {
            Assert.NotEqual(0, code);
        }

        await fixture.UntilAsync(() => server.GetStatistics().FailedHandshakes == 1);
        Assert.Equal(0, server.PeerCount);
    }

    [Theory]
    [InlineData("-tls1_2")]
    [InlineData("-tls1_3")]
    public async Task Its_server_is_a_peer(string version)
    {
        SkipWithoutOpenSsl();
        int port = FreePort();
        await using var openssl = new ProgramProcess(
            "openssl", _own.Folder, "s_server", "-accept", $"127.0.0.1:{port}", version, "-cert", "server.crt", "-key", "server.key", "-naccept", "1");
        await openssl.ReadLineAsync("ACCEPT");
        await using var fixture = new StreamFixture();
        StreamSocket client = fixture.Context.CreateStream();
        client.Options.Tls.CaFile = _own.CaFile;
        uint id = await client.ConnectAsync($"tls://127.0.0.1:{port}", Guard.Token).Guarded();
        await client.NextConnectedAsync();

        // It prints the session, then what comes; the payload is a line, so that it can be told from the rest.
        Assert.True(client.TrySend(id, "\nfrom us\n"u8));
        await openssl.ReadLineAsync("from us");
        await openssl.Input.WriteAsync(Wire.Frame("from openssl\n"u8), Guard.Token);
        await openssl.Input.FlushAsync(Guard.Token);
        Assert.Equal("from openssl\n"u8.ToArray(), await client.NextDataAsync(id));
        client.Disconnect(id);
        Assert.Equal(id, (await client.NextDisconnectedAsync()).PeerId);
        await openssl.ReadLineAsync("DONE"); // Our close_notify: without it the line is an error.
    }

    [Fact]
    public async Task Its_server_is_refused_for_its_certificate()
    {
        SkipWithoutOpenSsl();
        int port = FreePort();
        _own.WriteFiles("old", _own.Issue("CN=old", [], [IPAddress.Loopback], daysUntilEnd: -1));
        await using var openssl = new ProgramProcess("openssl", _own.Folder, "s_server", "-accept", $"127.0.0.1:{port}", "-cert", "old.crt", "-key", "old.key");
        await openssl.ReadLineAsync("ACCEPT");
        await using var fixture = new StreamFixture();
        StreamSocket client = fixture.Context.CreateStream();
        client.Options.Tls.CaFile = _own.CaFile;
        ZlinkException refused = await Assert.ThrowsAsync<ZlinkException>(() => client.ConnectAsync($"tls://127.0.0.1:{port}", Guard.Token).Guarded());
        Assert.Contains("is not valid now", refused.Message, StringComparison.Ordinal);
    }

    private static void SkipWithoutOpenSsl() => Assert.SkipUnless(ProgramProcess.Exists("openssl"), "NOT TESTED HERE: the program openssl is not installed");

    private static int FreePort()
    {
        using var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        socket.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        return ((IPEndPoint)socket.LocalEndPoint!).Port;
    }

    private StreamSocket Listen(StreamFixture fixture, out string port, Action<TlsOptions>? change = null)
    {
        StreamSocket server = fixture.Context.CreateStream();
        (server.Options.Tls.CertificateFile, server.Options.Tls.KeyFile) = (_own.CertificateFile, _own.KeyFile);
        change?.Invoke(server.Options.Tls);
        port = new Uri(server.Bind("tls://127.0.0.1:0")).Port.ToString(System.Globalization.CultureInfo.InvariantCulture);
        return server;
    }
}
