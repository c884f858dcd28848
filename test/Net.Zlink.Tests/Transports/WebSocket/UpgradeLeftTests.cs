using System.Net.Security;
using System.Net.Sockets;
using System.Text;
using Net.Zlink.Monitoring;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Transports.WebSocket;

/// <summary>A side that goes away in the middle of the upgrade is lost; it said nothing that would be no HTTP.</summary>
public sealed class UpgradeLeftTests
{
    [Theory]
    [InlineData("")]
    [InlineData("HTTP/1.1 101 Switching")]
    public async Task A_server_that_closes_before_its_answer_is_whole_is_lost_and_said_to_have_closed(string answered)
    {
        await using var fixture = new StreamFixture();
        using var listener = new RawListener();
        DealerSocket client = fixture.Context.CreateDealer(
            new DealerOptions { Linger = TimeSpan.Zero, ReconnectInterval = TimeSpan.FromHours(1) });
        using EventReader monitor = client.ReadEvents(SocketEventTypes.HandshakeFailedNoDetail);
        client.Connect(RawWebSocket.WsOf(listener));
        using (RawPeer server = await listener.AcceptAsync())
        {
            await server.SendAsync(Encoding.ASCII.GetBytes(answered));
            await ReadRequestAsync(new NetworkStream(server.Socket));
        }

        SocketEvent failed = await monitor.NextAsync(SocketEventTypes.HandshakeFailedNoDetail);
        Assert.Equal("the server closed the connection before it answered the request for a WebSocket", failed.Detail);
        await fixture.UntilAsync(() => client.GetStatistics().FailedHandshakes == 1); // Counted behind the event.
        Assert.Equal(1, client.GetStatistics().HandshakeFailures.Lost);
    }

    [Theory]
    [InlineData("")]
    [InlineData("GET / HTTP/1.1\r\nHost: some")]
    public async Task A_client_that_closes_before_its_request_is_whole_is_lost_and_said_to_have_closed(string asked)
    {
        await using var fixture = new StreamFixture();
        DealerSocket server = fixture.Context.CreateDealer();
        using EventReader monitor = server.ReadEvents(SocketEventTypes.HandshakeFailedNoDetail);
        string endpoint = server.Bind("ws://127.0.0.1:0");
        using (RawPeer client = await RawPeer.ConnectAsync(RawWebSocket.TcpOf(endpoint)))
        {
            await client.SendAsync(Encoding.ASCII.GetBytes(asked));
        }

        SocketEvent failed = await monitor.NextAsync(SocketEventTypes.HandshakeFailedNoDetail);
        Assert.Equal("the peer closed the connection before it asked for a WebSocket", failed.Detail);
        await fixture.UntilAsync(() => server.GetStatistics().FailedHandshakes == 1); // Counted behind the event.
        Assert.Equal(1, server.GetStatistics().HandshakeFailures.Lost);
    }

    [Fact]
    public async Task A_client_in_the_middle_of_its_request_is_let_go_at_once_when_the_endpoint_is_unbound()
    {
        await using var fixture = new StreamFixture();
        DealerSocket server = fixture.Context.CreateDealer(new DealerOptions { HandshakeInterval = TimeSpan.FromHours(1) });
        string endpoint = server.Bind("ws://127.0.0.1:0");
        using RawPeer client = await RawPeer.ConnectAsync(RawWebSocket.TcpOf(endpoint));
        await client.SendAsync(Encoding.ASCII.GetBytes("GET / HTTP/1.1\r\nHost: some"));
        await fixture.UntilAsync(() => server.GetStatistics().AcceptedConnections == 1);
        server.Unbind(endpoint);
        await client.ReadToAnyEndAsync();
    }

    [Fact]
    public async Task Over_wss_a_server_that_closes_instead_of_an_answer_may_mean_the_clients_certificate()
    {
        await using var fixture = new StreamFixture();
        using var certificates = new TestCertificates();
        using var listener = new RawListener();
        DealerSocket client = fixture.Context.CreateDealer(
            new DealerOptions { Linger = TimeSpan.Zero, ReconnectInterval = TimeSpan.FromHours(1) });
        client.Options.Tls.VerifyPeer = false;
        using EventReader monitor = client.ReadEvents(SocketEventTypes.HandshakeFailedNoDetail);
        client.Connect(listener.Endpoint.Replace("tcp://", "wss://", StringComparison.Ordinal));
        using (RawPeer server = await listener.AcceptAsync())
        {
            await using var secure = new SslStream(new NetworkStream(server.Socket));
            await secure.AuthenticateAsServerAsync(certificates.Server).Guarded();
            await ReadRequestAsync(secure);
            await secure.ShutdownAsync().Guarded();
        }

        SocketEvent failed = await monitor.NextAsync(SocketEventTypes.HandshakeFailedNoDetail);
        Assert.EndsWith("; over wss it may have rejected this side's certificate, or its absence", failed.Detail,
            StringComparison.Ordinal);
        await fixture.UntilAsync(() => client.GetStatistics().HandshakeFailures.Lost == 1);
    }

    // All of it: a close with something unread would be a reset.
    private static async Task ReadRequestAsync(System.IO.Stream stream)
    {
        using var reader = new StreamReader(stream, Encoding.ASCII, leaveOpen: true);
        while (await reader.ReadLineAsync(Guard.Token) is not ("" or null))
        {
        }
    }
}
