using Net.Zlink.Monitoring;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Transports.WebSocket;

/// <summary>A server that breaks RFC 6455, or closes, while a ZMP socket is connected to it: that says CLOSE, leaves when the server's TCP
/// has ended, and connects again.</summary>
public sealed class ServerFaultTests
{
    [Theory]
    [InlineData("a frame with a mask", "82811122334411", 1002, "")]
    [InlineData("an empty frame with a mask", "828011223344", 1002, "")]
    [InlineData("a reserved bit", "C20161", 1002, "")]
    [InlineData("a reserved opcode", "830161", 1002, "")]
    [InlineData("a reserved control opcode", "8B00", 1002, "")]
    [InlineData("a continuation of nothing", "800161", 1002, "")]
    [InlineData("a new message in another", "02015A820101", 1002, "")]
    [InlineData("a ping in fragments", "090161", 1002, "")]
    [InlineData("a ping that is too long", "897E007E", 1002, "")]
    [InlineData("a close of one byte", "880103", 1002, "a CLOSE with a code that may not be sent, or with half of one")]
    [InlineData("a close with a code that nobody may send", "880203ED", 1002, "a CLOSE with a code that may not be sent")] // 1005
    [InlineData("text that is no UTF-8", "8101C3", 1007, "a text message that is not UTF-8")]
    [InlineData("a close in order", "880203E9", 1001, "")]
    [InlineData("a close without a code", "8800", 1000, "")]
    public async Task A_WebSocket_server_that_breaks_the_protocol_gets_the_close_code_and_is_connected_again(
        string name, string said, int code, string words)
    {
        await using var fixture = new ContextFixture();
        RawListener listener = fixture.Listen();
        DealerSocket client = fixture.Context.CreateDealer(
            new DealerOptions { Linger = TimeSpan.Zero, ReconnectInterval = TimeSpan.FromMilliseconds(1) });
        using EventReader monitor = client.ReadEvents(SocketEventTypes.Disconnected);
        client.Connect(RawWebSocket.WsOf(listener));
        RawWebSocket server = fixture.Own(await RawWebSocket.AcceptAsync(listener));
        Assert.NotEmpty(name);
        await server.SendAsync(Convert.FromHexString(said));
        Assert.Equal(code, (await NextCloseAsync(server)).Code);
        Assert.False(listener.HasPending);
        server.Peer.EndSending();
        Assert.Null(await server.ReadFrameAsync());
        SocketEvent disconnected = await monitor.NextAsync(SocketEventTypes.Disconnected);
        Assert.Contains(words, disconnected.Detail ?? "", StringComparison.Ordinal);
        Assert.DoesNotContain("InnerException", disconnected.Detail ?? "", StringComparison.Ordinal);
        Assert.Equal(code is 1002 or 1007, disconnected.Detail?.StartsWith(
            "the peer broke the WebSocket protocol: ", StringComparison.Ordinal) ?? false);
        RawWebSocket again = fixture.Own(await RawWebSocket.AcceptAsync(listener));
        await again.SendAsync(RawWebSocket.CloseFrame(1000, masked: false));
        Assert.Equal(1000, (await NextCloseAsync(again)).Code);
    }

    /// <summary>The frames up to the CLOSE, past a greeting.</summary>
    private static async Task<WebSocketFrame> NextCloseAsync(RawWebSocket server)
    {
        WebSocketFrame? frame;
        do
        {
            frame = await server.ReadFrameAsync();
            Assert.True(frame!.IsMasked);
        }
        while (!frame.IsClose);

        return frame;
    }
}
