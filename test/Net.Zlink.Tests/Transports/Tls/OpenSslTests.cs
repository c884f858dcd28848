using Net.Zlink.Tests.Support;
using Samples;
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
    public async Task OpenSSLs_client_exchanges_messages_with_our_STREAM_listener(string version)
    {
        SkipWithoutOpenSsl();
        await using var fixture = new StreamFixture();
        StreamSocket server = Listen(fixture, out string port);
        await using var openssl = ChildProcess.StartForBytes(Programs.Installed(
            "openssl", _own.Folder, "s_client", "-connect", $"127.0.0.1:{port}", version, "-CAfile", "ca.crt", "-verify_return_error",
            "-verify_ip", "127.0.0.1", "-quiet"));
        uint id = await server.NextConnectedAsync();
        foreach (int size in new[] { 1, 1_000, 100_000 })
        {
            byte[] payload = Wire.Pattern(size);
            await openssl.Input.WriteAsync(Wire.Frame(payload), Guard.Token);
            await openssl.Input.FlushAsync(Guard.Token);
            Wire.AssertSame(payload, await server.NextDataAsync(id));
            Assert.True(server.To(id).TrySend(payload));
            byte[] back = new byte[size + Wire.HeaderSize];
            await openssl.Output.ReadExactlyAsync(back, Guard.Token).Guarded();
            Wire.AssertSame(Wire.Frame(payload), back);
        }

        server.Disconnect(id);
        Assert.Equal(0, await openssl.Output.ReadAsync(new byte[1], Guard.Token).Guarded()); // It sees the end, and ends.
    }

    [Theory]
    [InlineData("-tls1_2")]
    [InlineData("-tls1_3")]
    public async Task OpenSSLs_server_exchanges_messages_with_our_STREAM_client(string version)
    {
        SkipWithoutOpenSsl();
        await using ChildProcess openssl = Programs.Installed(
            "openssl", _own.Folder, "s_server", "-accept", "127.0.0.1:0", version, "-cert", "server.crt", "-key", "server.key", "-naccept",
                "1").Start();
        string endpoint = $"tls://{(await openssl.ReadLineAsync("ACCEPT "))["ACCEPT ".Length..]}";
        await using var fixture = new StreamFixture();
        StreamSocket client = fixture.Context.CreateStream();
        client.Options.Tls.CaFile = _own.CaFile;
        uint id = await client.ConnectAsync(endpoint, Guard.Token).Guarded();
        await client.NextConnectedAsync();

        // It prints the session, then what comes; the payload is a line, so that it can be told from the rest.
        Assert.True(client.To(id).TrySend("\nfrom us\n"u8));
        await openssl.ReadLineAsync("from us");
        await openssl.Input.WriteAsync(Wire.Frame("from openssl\n"u8), Guard.Token);
        await openssl.Input.FlushAsync(Guard.Token);
        Assert.Equal("from openssl\n"u8.ToArray(), await client.NextDataAsync(id));
        client.Disconnect(id);
        Assert.Equal(id, (await client.NextDisconnectedAsync()).PeerId);
        await openssl.ReadLineAsync("DONE"); // Our close_notify: without it the line is an error.
    }

    private static void SkipWithoutOpenSsl() =>
        Assert.SkipUnless(Programs.Find("openssl") is not null, "NOT TESTED HERE: the program openssl is not installed");

    private StreamSocket Listen(StreamFixture fixture, out string port)
    {
        StreamSocket server = fixture.Context.CreateStream();
        (server.Options.Tls.CertificateFile, server.Options.Tls.KeyFile) = (_own.CertificateFile, _own.KeyFile);
        port = new Uri(server.Bind("tls://127.0.0.1:0")).Port.ToString(System.Globalization.CultureInfo.InvariantCulture);
        return server;
    }
}
