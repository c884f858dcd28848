using System.Net;
using System.Net.Sockets;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Transports.WebSocket;

/// <summary>What a socket that connects asks for over a real socket (RFC 6455, 4.1).</summary>
public sealed class UpgradeAskingTests
{
    [Theory]
    [InlineData("127.0.0.1", "", "/")]
    [InlineData("127.0.0.1", "/", "/")]
    [InlineData("127.0.0.1", "/some/path?a=b&c=%20", "/some/path?a=b&c=%20")]
    [InlineData("127.0.0.1", "/?a", "/?a")]
    [InlineData("localhost", "/chat", "/chat")]
    [InlineData("[::1]", "/chat", "/chat")]
    [InlineData("[::1%1]", "/chat", "/chat")]
    public async Task The_request_has_the_fields_that_it_must_have_and_no_others(string host, string path, string target)
    {
        bool isIpv6 = host[0] == '[';
        Assert.SkipWhen(isIpv6 && !Socket.OSSupportsIPv6, "NOT TESTED HERE: there is no IPv6");
        await using var fixture = new StreamFixture();
        RawListener listener = fixture.Own(new RawListener(isIpv6 ? IPAddress.IPv6Loopback : IPAddress.Loopback));
        int port = RawPeer.AddressOf(listener.Endpoint).Port;
        // What a zone means to this machine is nobody else's business.
        string authority = $"{host.Replace("%1", "", StringComparison.Ordinal)}:{port}";
        StreamSocket client = fixture.Context.CreateStream(new StreamOptions { IPv6 = isIpv6 });
        Task<uint> connecting = client.ConnectAsync($"ws://{host}:{port}{path}", Guard.Token).AsTask();
        using var server = new RawWebSocket(await listener.AcceptAsync());
        string head = await server.ReadHeadAsync();
        string[] lines = head.Split("\r\n");
        Assert.Equal($"GET {target} HTTP/1.1", lines[0]);
        Assert.Equal(
            ["Connection: Upgrade", $"Host: {authority}", $"Sec-WebSocket-Key: {RawWebSocket.KeyOf(head)}", "Sec-WebSocket-Version: 13",
                "Upgrade: websocket"],
            lines[1..^2].Order(StringComparer.Ordinal),
            StringComparer.Ordinal);
        Assert.Equal(16, Convert.FromBase64String(RawWebSocket.KeyOf(head)).Length);
        server.Peer.EndSending();
        await Assert.ThrowsAsync<ZlinkException>(() => connecting.Guarded());
    }

    [Fact]
    public async Task Each_request_has_a_key_of_its_own()
    {
        const int Requests = 20;
        await using var fixture = new StreamFixture();
        RawListener listener = fixture.Listen();
        StreamSocket client = fixture.Context.CreateStream();
        var keys = new HashSet<string>(StringComparer.Ordinal);
        for (int i = 0; i < Requests; i++)
        {
            Task<uint> connecting = client.ConnectAsync(RawWebSocket.WsOf(listener), Guard.Token).AsTask();
            using var server = new RawWebSocket(await listener.AcceptAsync());
            Assert.True(keys.Add(RawWebSocket.KeyOf(await server.ReadHeadAsync())));
            server.Peer.EndSending();
            await Assert.ThrowsAsync<ZlinkException>(() => connecting.Guarded());
        }
    }

    [Fact]
    public async Task Nothing_is_said_behind_the_request_before_it_is_answered_though_a_message_waits()
    {
        await using var fixture = new StreamFixture();
        RawListener listener = fixture.Listen();
        DealerSocket client = fixture.Context.CreateDealer(new DealerOptions { Linger = TimeSpan.Zero });
        client.Connect(RawWebSocket.WsOf(listener));
        client.Send("waits"u8);
        using var server = new RawWebSocket(await listener.AcceptAsync());
        string request = await server.ReadHeadAsync();
        await fixture.SettleAsync();
        Assert.Equal(0, server.Peer.Socket.Available);
        await server.AnswerAsync(request);
        WebSocketFrame? first = await server.ReadFrameAsync();
        Assert.True(first!.IsMasked);
        Assert.Equal((byte)'Z', first.Payload[0]); // HELLO.
        server.Peer.Reset();
    }
}
