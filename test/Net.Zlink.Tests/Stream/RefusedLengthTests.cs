using System.Text;
using Net.Zlink.Monitoring;
using Net.Zlink.Tests.Monitoring;
using Net.Zlink.Tests.Support;
using Net.Zlink.Tests.Transports.WebSocket;
using Xunit;

namespace Net.Zlink.Tests.Stream;

/// <summary>Who announces more than MaxMessageSize is told why it is cut off, and so is who runs the server.</summary>
public sealed class RefusedLengthTests
{
    private const string AskForLength = "does the client send the length before each message?";
    private readonly RecordingLoggers _log = new();

    [Theory]
    [InlineData(false, "hello", "frame of 1751477356 bytes, MaxMessageSize is 8388608; " + AskForLength)]
    [InlineData(false, "\u007f\u0001\u0001\u0001A", "frame of 2130772225 bytes, MaxMessageSize is 8388608")]
    [InlineData(true, "hello", "frame of 1751477356 bytes, MaxMessageSize is 8388608; " + AskForLength)]
    public async Task Over_ws_a_length_that_is_refused_is_answered_with_CLOSE_1009_and_the_reason(
        bool weConnect, string sent, string reason)
    {
        await using var fixture = new StreamFixture(log: _log);
        (StreamSocket ours, RawWebSocket theirs, uint id) = await RawWebSocket.PairAsync(fixture, weConnect);
        await theirs.SendAsync(RawWebSocket.Frame(
            RawWebSocket.Fin | RawWebSocket.Binary, Encoding.ASCII.GetBytes(sent), masked: !weConnect));
        Assert.Equal((id, DisconnectReason.ProtocolError), await ours.NextDisconnectedAsync());
        WebSocketFrame? frame = await theirs.ReadFrameAsync();
        Assert.True(frame!.IsClose);
        Assert.Equal(weConnect, frame.IsMasked);
        Assert.Equal(1009, frame.Code);
        Assert.Equal(reason, Encoding.UTF8.GetString(frame.Payload.AsSpan(2)));
        Assert.Null(await theirs.ReadFrameAsync());
        await theirs.SendAsync(RawWebSocket.CloseFrame(1009, masked: !weConnect));
        Assert.Single(Warnings());
    }

    [Fact]
    public async Task The_reason_fits_into_a_CLOSE_whatever_the_limit_is()
    {
        await using var fixture = new StreamFixture();
        StreamSocket server = fixture.Context.CreateStream(new StreamOptions { MaxMessageSize = 2_000_000_000 });
        RawWebSocket client = fixture.Own(await RawWebSocket.ConnectAsync(server.Bind("ws://127.0.0.1:0")));
        await client.SendMessageAsync("~~~~"u8.ToArray());
        WebSocketFrame? frame = await client.ReadFrameAsync();
        Assert.Equal($"frame of 2122219134 bytes, MaxMessageSize is 2000000000; {AskForLength}",
            Encoding.UTF8.GetString(frame!.Payload.AsSpan(2)));
        Assert.InRange(frame.Payload.Length, 2, 125);
        await client.SendAsync(RawWebSocket.CloseFrame(1009));
    }

    [Theory]
    [InlineData("GET / HTTP/1.1\r\n\r\n", "the four bytes are the text \"GET \": it looks like HTTP")]
    [InlineData("hello", "the four bytes are the text \"hell\": it looks like text without a length before it")]
    [InlineData("\u007f\u0001\u0001\u0001A", "a frame of 2130772225 bytes was announced; MaxMessageSize is 8388608")]
    public async Task Over_tcp_a_length_that_is_refused_is_a_warning_that_says_what_it_looks_like(string sent, string likely)
    {
        await using var fixture = new StreamFixture(log: _log);
        fixture.Bind(TestHandler.Echo(), out string endpoint);
        RawPeer peer = await fixture.ConnectAsync(endpoint);
        await peer.SendAsync(Encoding.ASCII.GetBytes(sent));
        await peer.ReadToAnyEndAsync();
        string line = Assert.Single(Warnings());
        Assert.EndsWith(likely, line, StringComparison.Ordinal);
        Assert.Contains(peer.LocalAddress, line, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Peers_that_make_the_same_mistake_are_one_warning_a_minute()
    {
        var time = new ManualTimeProvider();
        await using var fixture = new StreamFixture(time: time, log: _log);
        fixture.Bind(out string endpoint);
        for (int minute = 1; minute <= 2; minute++)
        {
            foreach (string sent in (string[])["GET /", "POST /", "hello", "\u007f\u0001\u0001\u0001A", "\u007f\u0001\u0001\u0002A"])
            {
                RawPeer peer = await fixture.ConnectAsync(endpoint);
                await peer.SendAsync(Encoding.ASCII.GetBytes(sent));
                await peer.ReadToAnyEndAsync();
            }

            Assert.Equal(2 * minute, Warnings().Length); // One of text, one of a length.
            time.Advance(TimeSpan.FromMinutes(1));
        }
    }

    private string[] Warnings() => [.. _log.Lines.Where(
        static line => line.Level == Microsoft.Extensions.Logging.LogLevel.Warning
        && line.Text.Contains("broke the protocol", StringComparison.Ordinal)).Select(static line => line.Text)];
}
