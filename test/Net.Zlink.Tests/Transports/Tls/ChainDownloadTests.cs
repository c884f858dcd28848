using System.Security.Cryptography.X509Certificates;
using Net.Zlink.Monitoring;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Transports.Tls;

/// <summary>A peer's certificate may say where its issuer's can be had. Nobody goes there, unless a policy of the application's allows it: the peer would choose whom we connect to, and how long a handshake takes.</summary>
public sealed class ChainDownloadTests : IDisposable
{
    private readonly Authorities _own = new();

    public void Dispose() => _own.Dispose();

    [Theory]
    [InlineData(true, false)]
    [InlineData(false, false)]
    [InlineData(true, true)]
    [InlineData(false, true)]
    public async Task The_issuer_of_a_peers_certificate_is_fetched_only_with_a_policy_that_allows_it(bool isConnecter, bool isAllowed)
    {
        await using var fixture = new ContextFixture();
        using var elsewhere = new RawListener();
        (string root, X509Certificate2 leaf) = _own.WithIssuerElsewhere(elsewhere.Endpoint.Replace("tcp:", "http:", StringComparison.Ordinal));
        DealerSocket server = fixture.Context.CreateDealer(new DealerOptions { Linger = TimeSpan.Zero });
        DealerSocket client = fixture.Context.CreateDealer(new DealerOptions { Linger = TimeSpan.Zero, ReconnectInterval = TimeSpan.FromHours(1) });
        server.Options.Tls.Certificate = isConnecter ? leaf : _own.Server;
        server.Options.Tls.RequireClientCertificate = !isConnecter;
        client.Options.Tls.Certificate = isConnecter ? null : leaf;
        client.Options.Tls.VerifyPeer = isConnecter;
        DealerSocket judge = isConnecter ? client : server;
        judge.Options.Tls.CaFile = root;
        judge.Options.Tls.ChainPolicy = isAllowed ? new X509ChainPolicy { RevocationMode = X509RevocationMode.NoCheck } : null;
        using SocketMonitor monitor = judge.OpenMonitor(SocketEventTypes.ConnectionReady | SocketEventTypes.HandshakeFailedNoDetail);
        client.Connect(server.Bind("tls://127.0.0.1:0"));
        if (isAllowed)
        {
            using RawPeer fetching = await elsewhere.AcceptAsync(); // There is a request; what the answer would be is of no matter.
            Assert.Equal("GET "u8.ToArray(), await fetching.ReadAsync(4));
            fetching.Reset();
        }

        SocketEvent failed = await monitor.ReadAsync(Guard.Token).Guarded();
        Assert.Equal(SocketEventTypes.HandshakeFailedNoDetail, failed.Type);
        Assert.Contains("whom nobody here trusts", failed.Detail, StringComparison.Ordinal);
        Assert.False(!isAllowed && elsewhere.HasPending, "the issuer's certificate was asked for");
    }
}
