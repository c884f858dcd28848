using Net.Zlink.Monitoring;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Transports.WebSocket;

/// <summary>What a client adds to its upgrade request: fields of its own, and a path and query as long as tokens are.</summary>
public sealed class RequestFieldsTests
{
    [Fact]
    public async Task Request_fields_of_the_client_reach_the_server_and_are_in_no_description_or_event()
    {
        const string Secret = "eyJhbGciOi";
        await using var fixture = new ContextFixture();
        RouterSocket router = fixture.Context.CreateRouter();
        DealerSocket dealer = fixture.Context.CreateDealer(new DealerOptions { Linger = TimeSpan.Zero });
        dealer.Options.WebSocket.RequestFields["Authorization"] = $"Bearer {Secret}";
        dealer.Options.WebSocket.RequestFields["X-Name"] = "caf\u00e9";
        var told = new System.Collections.Concurrent.ConcurrentQueue<string?>();
        using IDisposable events = dealer.OnEvent(SocketEventTypes.All, e => told.Enqueue(e.ToString()));
        dealer.Connect(router.Bind("ws://127.0.0.1:*/feed"));
        dealer.Send("hello");
        using Message message = await router.ReceiveAsync(Guard.Token).Guarded();
        Assert.Equal($"Bearer {Secret}", message.WebSocketRequest!.Value.GetHeader("authorization"));
        Assert.Equal("caf\u00e9", message.WebSocketRequest!.Value.GetHeader("X-Name"));
        Assert.DoesNotContain(Secret, dealer.Describe(), StringComparison.Ordinal);
        Assert.DoesNotContain(told, text => text?.Contains(Secret, StringComparison.Ordinal) ?? false);
    }

    [Theory]
    [InlineData("chat", true)]
    [InlineData("superchat", true)]
    [InlineData("other", false)]
    public async Task A_server_may_choose_a_sub_protocol_that_the_request_names(string chosen, bool isTaken)
    {
        await using var fixture = new StreamFixture();
        RawListener listener = fixture.Listen();
        StreamSocket client = fixture.Context.CreateStream();
        client.Options.WebSocket.RequestFields["Sec-WebSocket-Protocol"] = "chat, superchat";
        Task<uint> connecting = client.ConnectAsync(RawWebSocket.WsOf(listener), Guard.Token).AsTask();
        using var server = new RawWebSocket(await listener.AcceptAsync());
        string head = await server.ReadHeadAsync();
        Assert.Contains("\r\nSec-WebSocket-Protocol: chat, superchat\r\n", head, StringComparison.Ordinal);
        string accept = RawWebSocket.AcceptFor(RawWebSocket.KeyOf(head));
        await server.Peer.SendAsync(System.Text.Encoding.ASCII.GetBytes(
            $"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {accept}\r\n"
            + $"Sec-WebSocket-Protocol: {chosen}\r\n\r\n"));
        if (isTaken)
        {
            await connecting.Guarded();
        }
        else
        {
            await Assert.ThrowsAsync<ZlinkException>(() => connecting.Guarded());
        }

        server.Peer.Reset();
    }

    [Theory]
    [InlineData("Host", "a", "has the field Host already")]
    [InlineData("sec-websocket-key", "a", "has the field sec-websocket-key already")]
    [InlineData("X Y", "a", "is not the name of an HTTP field")]
    [InlineData("", "a", "is not the name of an HTTP field")]
    [InlineData("Authorization", "secret\r\nX: y", "the value of Authorization has a character")]
    [InlineData("Authorization", "secret\u20ac", "the value of Authorization has a character")]
    public async Task A_request_field_that_HTTP_cannot_carry_is_refused_without_its_value(string name, string value, string words)
    {
        await using var fixture = new ContextFixture();
        DealerSocket dealer = fixture.Context.CreateDealer();
        dealer.Options.WebSocket.RequestFields[name] = value;
        ArgumentException refused = Assert.Throws<ArgumentException>(() => dealer.Connect("ws://127.0.0.1:1"));
        Assert.Contains(words, refused.Message, StringComparison.Ordinal);
        Assert.DoesNotContain("secret", refused.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Path_and_query_of_16_KiB_reach_the_server_and_longer_ones_are_refused()
    {
        const int Longest = 16 * 1024;
        await using var fixture = new ContextFixture();
        RouterSocket router = fixture.Context.CreateRouter();
        string endpoint = router.Bind("ws://127.0.0.1:*/feed");
        string query = $"?access_token={new string('x', Longest - "/feed?access_token=".Length)}";
        DealerSocket dealer = fixture.Context.CreateDealer(new DealerOptions { Linger = TimeSpan.Zero });
        dealer.Connect(endpoint + query);
        dealer.Send("hello");
        using Message message = await router.ReceiveAsync(Guard.Token).Guarded();
        Assert.Equal(query, message.WebSocketRequest!.Value.Query);
        Assert.Throws<ZlinkException>(() => dealer.Connect(endpoint + query + "y"));
    }
}
