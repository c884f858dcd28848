using System.Security.Authentication;
using Net.Zlink.Monitoring;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Transports.Tls;

/// <summary>A side that is refused for its certificate is told so, or at least that this may be why, also where its own part of the TLS
/// handshake was complete before.</summary>
public sealed class RefusedBehindTlsTests : IDisposable
{
    // An alert, where one comes, says more.
    private const string Words =
        "may have rejected this side's certificate, or its absence|the peer refused the TLS handshake: .*certificate";

    private readonly Authorities _own = new();

    public void Dispose() => _own.Dispose();

    [Theory]
    [InlineData("tls", SslProtocols.Tls12, false)]
    [InlineData("tls", SslProtocols.Tls12, true)]
    [InlineData("tls", SslProtocols.Tls13, false)]
    [InlineData("tls", SslProtocols.Tls13, true)]
    [InlineData("wss", SslProtocols.Tls12, false)]
    [InlineData("wss", SslProtocols.Tls12, true)]
    [InlineData("wss", SslProtocols.Tls13, false)]
    [InlineData("wss", SslProtocols.Tls13, true)]
    public async Task A_client_that_the_listener_does_not_trust_hears_that_it_may_be_its_certificate(
        string scheme, SslProtocols protocols, bool showsOne)
    {
        await using var fixture = new ContextFixture();
        DealerSocket server = fixture.Context.CreateDealer(new DealerOptions { Linger = TimeSpan.Zero });
        server.Options.Tls.Certificate = _own.Server;
        (server.Options.Tls.RequireClientCertificate, server.Options.Tls.CaFile, server.Options.Tls.Protocols) =
            (true, _own.CaFile, protocols);
        DealerSocket client = NewClient(fixture);
        client.Options.Tls.CaFile = _own.CaFile;
        client.Options.Tls.Certificate = showsOne ? _own.Other.Server : null;
        using EventReader monitor = client.ReadEvents(SocketEventTypes.HandshakeFailedNoDetail | SocketEventTypes.Disconnected);
        client.Connect(server.Bind($"{scheme}://127.0.0.1:0"));
        SocketEvent failed = await monitor.ReadAsync(Guard.Token).Guarded();
        Assert.Equal(SocketEventTypes.HandshakeFailedNoDetail, failed.Type);
        Assert.Matches(Words, failed.Detail);
        Assert.Equal(failed.Detail, (await monitor.NextAsync(SocketEventTypes.Disconnected)).Detail);
        await fixture.UntilAsync(() => Assert.Single(client.GetPeers()).WhyNotConnected is not null);
        Assert.EndsWith(failed.Detail!, Assert.Single(client.GetPeers()).WhyNotConnected, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(SslProtocols.Tls12)]
    [InlineData(SslProtocols.Tls13)]
    public async Task A_listener_that_the_client_does_not_trust_hears_that_it_may_be_its_certificate(SslProtocols protocols)
    {
        await using var fixture = new ContextFixture();
        DealerSocket server = fixture.Context.CreateDealer(new DealerOptions { Linger = TimeSpan.Zero });
        (server.Options.Tls.Certificate, server.Options.Tls.Protocols) = (_own.Server, protocols);
        DealerSocket client = NewClient(fixture);
        client.Options.Tls.CaFile = _own.Other.CaFile;
        using EventReader monitor = server.ReadEvents(SocketEventTypes.HandshakeFailedNoDetail);
        client.Connect(server.Bind("tls://127.0.0.1:0"));
        Assert.Matches(Words, (await monitor.NextAsync(SocketEventTypes.HandshakeFailedNoDetail)).Detail);
    }

    [Fact]
    public async Task Over_tcp_nothing_is_said_of_certificates()
    {
        await using var fixture = new ContextFixture();
        DealerSocket client = NewClient(fixture);
        using RawListener listener = new();
        using EventReader monitor = client.ReadEvents(SocketEventTypes.HandshakeFailedNoDetail);
        client.Connect(listener.Endpoint);
        using (RawPeer peer = await listener.AcceptAsync())
        {
            peer.EndSending();
            Assert.Equal("the connection ended during the handshake",
                (await monitor.NextAsync(SocketEventTypes.HandshakeFailedNoDetail)).Detail);
        }
    }

    private static DealerSocket NewClient(ContextFixture fixture) =>
        fixture.Context.CreateDealer(new DealerOptions { Linger = TimeSpan.Zero, ReconnectInterval = TimeSpan.FromHours(1) });
}
