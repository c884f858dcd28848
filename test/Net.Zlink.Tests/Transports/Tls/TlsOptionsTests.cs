using System.Net.Security;
using System.Security.Authentication;
using System.Security.Cryptography.X509Certificates;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Transports.Tls;

/// <summary>What the TLS options let through, and what binding refuses before anybody connects.</summary>
public sealed class TlsOptionsTests : IDisposable
{
    private readonly Authorities _own = new();

    public void Dispose() => _own.Dispose();

    [Theory]
    [InlineData("tls://localhost:0")]
    [InlineData("tls://127.0.0.1:0")]
    [InlineData("tls://[::1]:0")]
    [InlineData("wss://localhost:0/path")]
    [InlineData("wss://127.0.0.1:0")]
    [InlineData("wss://[::1]:0")]
    public Task The_endpoints_host_is_the_name_that_is_checked(string endpoint)
    {
        Assert.SkipWhen(endpoint.Contains("::1", StringComparison.Ordinal) && !System.Net.Sockets.Socket.OSSupportsIPv6,
            "NOT TESTED HERE: there is no IPv6");
        return AssertTalksAsync(endpoint, static (_, _) => { });
    }

    [Theory]
    [InlineData("tls")]
    [InlineData("wss")]
    public Task HostName_is_checked_instead_of_the_host(string scheme) => AssertTalksAsync($"{scheme}://127.0.0.1:0", (server, client) =>
    {
        server.Certificate = _own.Issue("CN=else", ["elsewhere.example"]);
        client.HostName = "elsewhere.example";
    });

    [Fact]
    public Task A_name_with_a_wildcard_covers_one_label() => AssertTalksAsync("tls://127.0.0.1:0", (server, client) =>
    {
        server.Certificate = _own.Issue("CN=wild", ["*.elsewhere.example"]);
        client.HostName = "a.elsewhere.example";
    });

    [Theory]
    [InlineData("tls")]
    [InlineData("wss")]
    public Task Without_VerifyPeer_any_certificate_will_do(string scheme) => AssertTalksAsync($"{scheme}://127.0.0.1:0", (server, client) =>
    {
        server.Certificate = _own.Other.Issue("CN=else", ["elsewhere.example"], daysUntilEnd: -1);
        client.VerifyPeer = false;
    });

    [Theory]
    [InlineData(SslProtocols.Tls12, SslProtocols.None, SslProtocols.Tls12)]
    [InlineData(SslProtocols.None, SslProtocols.Tls12, SslProtocols.Tls12)]
    [InlineData(SslProtocols.Tls13, SslProtocols.None, SslProtocols.Tls13)]
    [InlineData(SslProtocols.None, SslProtocols.Tls13, SslProtocols.Tls13)]
    [InlineData(SslProtocols.Tls12 | SslProtocols.Tls13, SslProtocols.Tls12 | SslProtocols.Tls13, SslProtocols.Tls13)]
    public async Task Versions_are_the_applications_to_choose(SslProtocols atServer, SslProtocols atClient, SslProtocols spoken)
    {
        SslProtocols seen = SslProtocols.None;
        await AssertTalksAsync("tls://localhost:0", (server, client) =>
        {
            (server.Protocols, client.Protocols) = (atServer, atClient);
            client.Validation = (sender, _, _, errors) =>
            {
                seen = ((SslStream)sender).SslProtocol;
                return errors == SslPolicyErrors.None;
            };
        });
        Assert.Equal(spoken, seen);
    }

    [Theory]
    [InlineData(SslProtocols.Tls12, TlsCipherSuite.TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384, true)]
    [InlineData(SslProtocols.Tls12, TlsCipherSuite.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, false)]
    [InlineData(SslProtocols.Tls13, TlsCipherSuite.TLS_AES_128_GCM_SHA256, true)]
    [InlineData(SslProtocols.Tls13, TlsCipherSuite.TLS_CHACHA20_POLY1305_SHA256, false)]
    public async Task Cipher_suites_are_the_applications_to_choose(SslProtocols protocols, TlsCipherSuite suite, bool atServer)
    {
        if (OperatingSystem.IsWindows())
        {
            Assert.Skip("NOT TESTED HERE: Windows lets nobody choose cipher suites");
            return;
        }

        var only = new CipherSuitesPolicy([suite]);
        TlsCipherSuite seen = TlsCipherSuite.TLS_NULL_WITH_NULL_NULL;
        await AssertTalksAsync("tls://localhost:0", (server, client) =>
        {
            (server.Protocols, (atServer ? server : client).CipherSuites) = (protocols, only);
            client.Validation = (sender, _, _, errors) =>
            {
                seen = ((SslStream)sender).NegotiatedCipherSuite;
                return errors == SslPolicyErrors.None;
            };
        });
        Assert.Equal(suite, seen);
    }

    [Theory]
    [InlineData(SslProtocols.Tls12)]
    [InlineData(SslProtocols.Tls13)]
    public async Task A_client_shows_its_certificate_where_one_is_demanded(SslProtocols protocols)
    {
        string? shown = null;
        await AssertTalksAsync("tls://localhost:0", (server, client) =>
        {
            (server.RequireClientCertificate, server.CaFile, server.Protocols) = (true, _own.CaFile, protocols);
            server.Validation = (_, certificate, _, errors) =>
            {
                shown = certificate?.Subject;
                return errors == SslPolicyErrors.None;
            };
            (client.CertificateFile, client.KeyFile) =
                _own.WriteFiles("client", _own.Issue("CN=client", ["127.0.0.1"]), "secret");
            client.KeyPassword = "secret";
        });
        Assert.Equal("CN=client", shown);
    }

    [Theory]
    [InlineData("tls")]
    [InlineData("wss")]
    public Task The_applications_check_is_not_asked_about_clients_that_were_not_asked_for_a_certificate(string scheme) =>
        AssertTalksAsync($"{scheme}://localhost:0", static (server, client) =>
    {
        server.Validation = static (_, _, _, errors) => errors == SslPolicyErrors.None;
        client.Validation = static (_, _, _, errors) => errors == SslPolicyErrors.None; // The same on both sides, as it is often set.
    });

    [Theory]
    [InlineData("tls")]
    [InlineData("wss")]
    public Task A_server_that_demands_a_certificate_takes_a_trusted_one(string scheme) =>
        AssertTalksAsync($"{scheme}://localhost:0", (server, client) =>
    {
        (server.RequireClientCertificate, server.CaFile) = (true, _own.CaFile);
        client.Certificate = _own.Server;
    });

    [Fact]
    public Task The_certificates_file_may_hold_its_issuers_and_its_key() => AssertTalksAsync("tls://localhost:0", (server, client) =>
    {
        (client.CaFile, server.CertificateFile, string key) = _own.WriteChain();
        server.CertificateFile = _own.Write("all.pem", File.ReadAllText(server.CertificateFile) + "\n" + File.ReadAllText(key));
        server.KeyFile = "";
    });

    [Fact]
    public Task A_key_may_have_a_password() => AssertTalksAsync("tls://localhost:0", (server, _) =>
    {
        (server.CertificateFile, server.KeyFile) = _own.WriteFiles("locked", _own.Server, "secret");
        server.KeyPassword = "secret";
    });

    [Fact]
    public Task A_password_that_the_key_does_not_need_is_ignored() =>
        AssertTalksAsync("tls://localhost:0", (server, _) => server.KeyPassword = "secret");

    [Fact]
    public Task Options_of_the_applications_own_are_used_as_they_are() => AssertTalksAsync("tls://127.0.0.1:0", (server, client) =>
    {
        server.Server = new SslServerAuthenticationOptions
        {
            ServerCertificateSelectionCallback = (_, name) =>
            string.Equals(name, "chosen.example", StringComparison.Ordinal) ? _own.Server : null!
        };
        client.Client = new SslClientAuthenticationOptions
        {
            TargetHost = "chosen.example",
            RemoteCertificateValidationCallback = static (_, certificate, _, _) => certificate is not null
        };
    });

    [Theory]
    [InlineData("tls", null, "", "localhost")]
    [InlineData("tls", "", "", "localhost")]
    [InlineData("tls", null, "elsewhere.example", "elsewhere.example")]
    [InlineData("tls", "chosen.example", "elsewhere.example", "chosen.example")]
    [InlineData("wss", null, "", "localhost")]
    public async Task Options_of_the_applications_own_without_a_name_ask_for_that_of_the_endpoint(
        string scheme, string? target, string hostName, string asked)
    {
        string? seen = null;
        await AssertTalksAsync($"{scheme}://localhost:0", (server, client) =>
        {
            X509Certificate2 shown = _own.Issue("CN=named", [asked]);
            server.Server = new SslServerAuthenticationOptions
            {
                ServerCertificateSelectionCallback = (_, name) =>
                {
                    seen = name;
                    return shown;
                },
            };
            client.HostName = hostName;
            client.Client = new SslClientAuthenticationOptions { TargetHost = target };
        });
        Assert.Equal(asked, seen);
    }

    [Fact]
    public Task A_chain_policy_of_the_applications_own_decides() => AssertTalksAsync("tls://localhost:0", (_, client) =>
    {
        client.CaFile = "";
        client.ChainPolicy = new X509ChainPolicy
        {
            TrustMode = X509ChainTrustMode.CustomRootTrust,
            RevocationMode = X509RevocationMode.NoCheck
        };
        client.ChainPolicy!.CustomTrustStore.ImportFromPemFile(_own.CaFile);
    });

    [Fact]
    public Task The_applications_check_may_accept_what_the_library_would_not() => AssertTalksAsync("wss://localhost:0", (_, client) =>
    {
        client.CaFile = _own.Other.CaFile;
        client.Validation = static (_, certificate, _, errors) => errors == SslPolicyErrors.RemoteCertificateChainErrors
            && certificate is not null;
    });

    [Theory]
    [InlineData("nothing", "a listener needs a certificate: set Tls.CertificateFile and Tls.KeyFile, or Tls.Certificate")]
    [InlineData("missing certificate", "missing.crt")]
    [InlineData("missing key", "missing.key")]
    [InlineData("wrong password", "cannot be used")]
    [InlineData("no password", "set Tls.KeyPassword")]
    [InlineData("key of another", "cannot be used")]
    [InlineData("key of old encryption", "ENCRYPTED PRIVATE KEY (PKCS#8), and, not encrypted, RSA PRIVATE KEY and EC PRIVATE KEY")]
    [InlineData("key of another program", "ENCRYPTED PRIVATE KEY (PKCS#8), and, not encrypted, RSA PRIVATE KEY and EC PRIVATE KEY")]
    [InlineData("garbage", "cannot be used")]
    [InlineData("empty", "cannot be used")]
    [InlineData("folder", "cannot be used")]
    [InlineData("not ours to read", "cannot be used")]
    [InlineData("without key", "the certificate has no private key")]
    [InlineData("disposed", "the certificate in Tls.Certificate cannot be used")]
    [InlineData("missing authorities", "missing.crt")]
    [InlineData("garbage for authorities", "the file holds no certificate")]
    public async Task Binding_refuses_what_could_never_work_and_says_why(string what, string words)
    {
        Assert.SkipWhen(string.Equals(what, "not ours to read", StringComparison.Ordinal)
            && (OperatingSystem.IsWindows() || Environment.IsPrivilegedProcess), "NOT TESTED HERE: root may read everything");
        await using var context = new ZlinkContext();
        foreach (string endpoint in new[] { "tls://127.0.0.1:0", "wss://127.0.0.1:0/x" })
        {
            await using DealerSocket socket = context.CreateDealer();
            Spoil(socket.Options.Tls, what);
            ZlinkException refused = Assert.Throws<ZlinkException>(() => socket.Bind(endpoint));
            Assert.Equal(ZlinkError.InvalidArgument, refused.Error);
            Assert.Contains(words, refused.Message, StringComparison.Ordinal);
        }
    }

    private void Spoil(TlsOptions tls, string what)
    {
        (tls.CertificateFile, tls.KeyFile) = (_own.CertificateFile, _own.KeyFile);
        switch (what)
        {
            case "nothing":
                (tls.CertificateFile, tls.KeyFile) = ("", "");
                break;
            case "missing certificate":
                tls.CertificateFile = Path.Combine(_own.Folder, "missing.crt");
                break;
            case "missing key":
                tls.KeyFile = Path.Combine(_own.Folder, "missing.key");
                break;
            case "wrong password":
                (tls.CertificateFile, tls.KeyFile) = _own.WriteFiles("locked", _own.Server, "secret");
                tls.KeyPassword = "guess";
                break;
            case "no password":
                (tls.CertificateFile, tls.KeyFile) = _own.WriteFiles("locked", _own.Server, "secret");
                break;
            case "key of another":
                tls.KeyFile = _own.Other.KeyFile;
                break;
            case "key of old encryption":
                tls.KeyFile = _own.Write(
                    "old.key", "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\nAAAA\n-----END RSA "
                    + "PRIVATE KEY-----");
                tls.KeyPassword = "secret";
                break;
            case "key of another program":
                tls.KeyFile = _own.Write("ssh.key", "-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n-----END OPENSSH PRIVATE KEY-----");
                break;
            case "garbage":
                tls.CertificateFile = _own.Write("garbage.crt", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----");
                break;
            case "empty":
                tls.KeyFile = _own.Write("empty.key", "");
                break;
            case "folder":
                tls.CertificateFile = _own.Folder;
                break;
            case "not ours to read" when !OperatingSystem.IsWindows():
                File.SetUnixFileMode(_own.KeyFile, UnixFileMode.None);
                break;
            case "without key":
                tls.Certificate = X509CertificateLoader.LoadCertificate(_own.Server.RawData);
                break;
            case "disposed":
                tls.Certificate = _own.Issue("CN=gone", ["localhost"]);
                tls.Certificate!.Dispose();
                break;
            case "missing authorities":
                tls.CaFile = Path.Combine(_own.Folder, "missing.crt");
                break;
            case "garbage for authorities":
                tls.CaFile = _own.Write("garbage.crt", "no PEM");
                break;
            default:
                throw new ArgumentOutOfRangeException(nameof(what), what, "no such case");
        }
    }

    /// <summary>A good server and a good client, changed by the test, exchange a message each way.</summary>
    private async Task AssertTalksAsync(string endpoint, Action<TlsOptions, TlsOptions> change)
    {
        await using var fixture = new StreamFixture();
        StreamSocket server = fixture.Context.CreateStream();
        StreamSocket client = fixture.Context.CreateStream();
        server.Options.IPv6 = client.Options.IPv6 = endpoint.Contains('[', StringComparison.Ordinal);
        (server.Options.Tls.CertificateFile, server.Options.Tls.KeyFile) = (_own.CertificateFile, _own.KeyFile);
        client.Options.Tls.CaFile = _own.CaFile;
        change(server.Options.Tls, client.Options.Tls);
        int port = new Uri(server.Bind(endpoint)).Port;
        uint there = await client.ConnectAsync(endpoint.Replace(":0", $":{port}", StringComparison.Ordinal), Guard.Token).Guarded();
        uint here = await server.NextConnectedAsync();
        Assert.Equal(there, await client.NextConnectedAsync());
        Assert.True(client.To(there).TrySend("ping"u8));
        Assert.Equal("ping"u8.ToArray(), await server.NextDataAsync(here));
        Assert.True(server.To(here).TrySend("pong"u8));
        Assert.Equal("pong"u8.ToArray(), await client.NextDataAsync(there));
        client.Disconnect(there);
        Assert.Equal(here, (await server.NextDisconnectedAsync()).PeerId);
    }
}
