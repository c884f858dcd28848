using System.Net.WebSockets;
using System.Text;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Transports.WebSocket;

/// <summary>Sec-WebSocket-Protocol: what a client offers, and what a listener agrees on.</summary>
public sealed class SubProtocolTests
{
    [Theory]
    [InlineData("chat.v3, chat.v2, chat.v1", "chat.v2")]
    [InlineData("chat.v1,chat.v2", "chat.v1")]
    [InlineData("chat.v1\r\nSec-WebSocket-Protocol: chat.v2", "chat.v1")]
    [InlineData("CHAT.V2", null)]
    [InlineData("other", null)]
    [InlineData(null, null)]
    public async Task A_listener_agrees_on_the_first_sub_protocol_of_the_client_that_it_speaks_and_names_none_without_one(
        string? asked, string? agreed)
    {
        await using var fixture = new StreamFixture();
        StreamSocket server = Speaking(fixture, "chat.v2", "chat.v1");
        using var client = new RawWebSocket(await RawPeer.ConnectAsync(RawWebSocket.TcpOf(server.Bind("ws://127.0.0.1:*"))));
        string field = asked is null ? "" : $"Sec-WebSocket-Protocol: {asked}\r\n";
        await client.Peer.SendAsync(Encoding.ASCII.GetBytes(RawWebSocket.Request[..^2] + field + "\r\n"));
        string head = await client.ReadHeadAsync();
        Assert.StartsWith("HTTP/1.1 101 ", head, StringComparison.Ordinal);
        Assert.Equal(agreed is not null, head.Contains($"\r\nSec-WebSocket-Protocol: {agreed}\r\n", StringComparison.Ordinal));
        Assert.Equal(agreed is not null, head.Contains("Sec-WebSocket-Protocol", StringComparison.OrdinalIgnoreCase));
        using StreamMessage connected = await server.ReceiveAsync(Guard.Token).Guarded();
        Assert.True(server.TryGetPeer(connected.PeerId, out StreamPeer? peer));
        Assert.Equal(agreed, peer.SubProtocol);
    }

    [Fact]
    public async Task A_listener_without_sub_protocols_answers_as_natively()
    {
        await using var fixture = new StreamFixture();
        StreamSocket server = fixture.Context.CreateStream();
        using var client = new RawWebSocket(await RawPeer.ConnectAsync(RawWebSocket.TcpOf(server.Bind("ws://127.0.0.1:*"))));
        await client.Peer.SendAsync(Encoding.ASCII.GetBytes(RawWebSocket.Request[..^2] + "Sec-WebSocket-Protocol: chat\r\n\r\n"));
        Assert.DoesNotContain("Sec-WebSocket-Protocol", await client.ReadHeadAsync(), StringComparison.OrdinalIgnoreCase);
    }

    [Fact]
    public async Task The_client_of_the_base_library_gets_the_sub_protocol_that_it_asks_for()
    {
        await using var fixture = new StreamFixture();
        string endpoint = Speaking(fixture, "chat").Bind("ws://127.0.0.1:*");
        using var client = new ClientWebSocket();
        client.Options.AddSubProtocol("news");
        client.Options.AddSubProtocol("chat");
        await client.ConnectAsync(new Uri(endpoint), Guard.Token);
        Assert.Equal("chat", client.SubProtocol);
        client.Abort();
    }

    [Theory]
    [InlineData("ws://127.0.0.1:*")]
    [InlineData("wss://127.0.0.1:*")]
    public async Task Both_ends_of_a_connection_know_the_sub_protocol_that_they_agreed_on(string endpoint)
    {
        using var certificates = new TestCertificates();
        await using var fixture = new ContextFixture();
        RouterSocket router = fixture.Context.CreateRouter();
        DealerSocket dealer = fixture.Context.CreateDealer(new DealerOptions { Linger = TimeSpan.Zero });
        router.Options.Tls.CertificateFile = certificates.CertificateFile;
        router.Options.Tls.KeyFile = certificates.KeyFile;
        dealer.Options.Tls.CaFile = certificates.CaFile;
        router.Options.WebSocket.SubProtocols.Add("zlink.v1");
        dealer.Options.WebSocket.SubProtocols.Add("zlink.v2");
        dealer.Options.WebSocket.SubProtocols.Add("zlink.v1");
        dealer.Connect(router.Bind(endpoint));
        dealer.Send("hello");
        (await router.ReceiveAsync(Guard.Token).Guarded()).Dispose();
        Assert.Equal("zlink.v1", router.GetPeers()[0].SubProtocol);
        Assert.Equal("zlink.v1", dealer.GetPeers()[0].SubProtocol);
    }

    [Theory]
    [InlineData("is an HTTP token", "chat", "no token")]
    [InlineData("is an HTTP token", "chat", "")]
    [InlineData("named twice", "chat", "chat")]
    public async Task Sub_protocols_that_no_request_can_offer_are_refused(string words, params string[] names)
    {
        await using var fixture = new ContextFixture();
        DealerSocket dealer = fixture.Context.CreateDealer();
        Array.ForEach(names, dealer.Options.WebSocket.SubProtocols.Add);
        foreach (Action use in new Action[] { () => dealer.Connect("ws://127.0.0.1:1"), () => dealer.Bind("ws://127.0.0.1:*") })
        {
            Assert.Contains(words, Assert.Throws<ArgumentException>(use).Message, StringComparison.Ordinal);
        }
    }

    [Fact]
    public async Task Sub_protocols_beside_the_same_request_field_are_refused()
    {
        await using var fixture = new ContextFixture();
        DealerSocket dealer = fixture.Context.CreateDealer();
        dealer.Options.WebSocket.SubProtocols.Add("chat");
        dealer.Options.WebSocket.RequestFields["sec-websocket-protocol"] = "chat";
        Assert.Contains("has the field", Assert.Throws<ArgumentException>(() => dealer.Connect("ws://127.0.0.1:1")).Message,
            StringComparison.Ordinal);
    }

    private static StreamSocket Speaking(StreamFixture fixture, params string[] names)
    {
        StreamSocket server = fixture.Context.CreateStream();
        Array.ForEach(names, server.Options.WebSocket.SubProtocols.Add);
        return server;
    }
}
