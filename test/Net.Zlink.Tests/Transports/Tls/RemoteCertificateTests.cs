using System.Net.Security;
using System.Security.Cryptography.X509Certificates;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Transports.Tls;

/// <summary>Who the other side has shown to be, for what it may do.</summary>
public sealed class RemoteCertificateTests : IDisposable
{
    private readonly Authorities _own = new();

    public void Dispose() => _own.Dispose();

    [Theory]
    [InlineData("tls://127.0.0.1:0")]
    [InlineData("wss://127.0.0.1:0/work")]
    public async Task A_message_and_a_peer_say_whose_certificate_it_was(string endpoint)
    {
        await using var fixture = new ContextFixture();
        RouterSocket router = fixture.Context.CreateRouter();
        Ask(router.Options.Tls);
        string bound = router.Bind(endpoint);
        foreach (string name in new[] { "CN=alice", "CN=bob" })
        {
            DealerSocket dealer = fixture.Context.CreateDealer();
            Show(dealer.Options.Tls, name);
            dealer.Connect(bound);
            await dealer.SendAsync("hello"u8.ToArray(), Guard.Token);
            using Message message = await router.ReceiveAsync(Guard.Token).Guarded();
            Assert.Equal(name, message.RemoteCertificate!.Subject);
            using Message copy = message.Copy();
            Assert.Same(message.RemoteCertificate, copy.RemoteCertificate);
            Assert.True(router.TryGetPeer(message.RoutingId, out PeerInfo? peer));
            Assert.Equal(name, peer.RemoteCertificate!.Subject);
            Assert.Equal("CN=server", Assert.Single(dealer.GetPeers()).RemoteCertificate!.Subject);
            dealer.Dispose();
            await fixture.UntilAsync(() => router.PeerCount == 0);
            Assert.Equal(name, message.RemoteCertificate!.Subject); // As long as there is anything of the connection.
        }
    }

    [Fact]
    public async Task A_STREAM_peer_and_a_pipe_say_so_too_and_of_one_that_showed_none_nothing_is_said()
    {
        await using var fixture = new StreamFixture();
        StreamSocket server = fixture.Context.CreateStream();
        Ask(server.Options.Tls);
        string framed = server.Bind("tls://127.0.0.1:0");
        var seen = new TaskCompletionSource<string?>();
        string raw = server.BindPipe("tls://127.0.0.1:0", pipe =>
        {
            seen.SetResult(pipe.RemoteCertificate?.Subject);
            return Task.CompletedTask;
        });
        StreamSocket client = fixture.Context.CreateStream();
        Show(client.Options.Tls, "CN=carol");
        await client.ConnectAsync(framed, Guard.Token).Guarded();
        uint id = await server.NextConnectedAsync();
        Assert.True(server.TryGetPeer(id, out StreamPeer? peer));
        Assert.Equal("CN=carol", peer.RemoteCertificate!.Subject);
        await (await client.ConnectPipeAsync(raw, Guard.Token).Guarded()).DisposeAsync();
        Assert.Equal("CN=carol", await seen.Task.Guarded());
        string plain = server.Bind("tcp://127.0.0.1:0");
        await client.ConnectAsync(plain, Guard.Token).Guarded();
        Assert.True(server.TryGetPeer(await server.NextConnectedAsync(), out StreamPeer? other));
        Assert.Null(other.RemoteCertificate);
    }

    [Fact]
    public async Task A_pipe_shows_what_the_TLS_handshake_agreed_on()
    {
        await using var fixture = new StreamFixture();
        StreamSocket server = fixture.Context.CreateStream();
        server.Options.Tls.Server = new SslServerAuthenticationOptions
        {
            ServerCertificate = _own.Server,
            ApplicationProtocols = [new("chat"), new("mail")],
        };
        StreamSocket client = fixture.Context.CreateStream();
        client.Options.Tls.Client = new SslClientAuthenticationOptions
        {
            RemoteCertificateValidationCallback = (_, _, _, _) => true,
            ApplicationProtocols = [new("mail")],
        };
        var seen = new TaskCompletionSource<TlsSession?>(TaskCreationOptions.RunContinuationsAsynchronously);
        string endpoint = server.BindPipe("tls://localhost:0", pipe =>
        {
            seen.SetResult(pipe.Tls);
            return Task.CompletedTask;
        });
        await using StreamPipe pipe = await client.ConnectPipeAsync(endpoint, Guard.Token).Guarded();
        TlsSession theirs = (await seen.Task.Guarded())!;
        TlsSession ours = pipe.Tls!;
        Assert.Equal(new SslApplicationProtocol("mail"), theirs.ApplicationProtocol);
        Assert.Equal((ours.Protocol, ours.CipherSuite, ours.ApplicationProtocol),
            (theirs.Protocol, theirs.CipherSuite, theirs.ApplicationProtocol));
    }

    private void Ask(TlsOptions tls)
    {
        tls.Certificate = _own.Server;
        tls.CaFile = _own.CaFile;
        tls.RequireClientCertificate = true;
    }

    private void Show(TlsOptions tls, string name)
    {
        X509Certificate2 certificate = _own.Issue(name, ["localhost"]);
        tls.Certificate = certificate;
        tls.CaFile = _own.CaFile;
    }
}
