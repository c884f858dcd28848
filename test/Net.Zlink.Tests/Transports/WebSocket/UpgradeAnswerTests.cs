using System.Net.Sockets;
using System.Text;
using Net.Zlink.Monitoring;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Transports.WebSocket;

/// <summary>Answers to who connects over a real socket (RFC 6455, 4.1): which are taken, what is said of the others, and that the next
/// attempt succeeds all the same.</summary>
public sealed class UpgradeAnswerTests
{
    private const string Line = "HTTP/1.1 101 Switching Protocols\r\n";
    private const string Upgrading = "Upgrade: websocket\r\nConnection: Upgrade\r\n";
    private const string AcceptField = "Sec-WebSocket-Accept: {accept}\r\n"; // Filled in by the request's key.
    private const string Good = Line + Upgrading + AcceptField;
    private const string TooLong = "the server's answer to the WebSocket upgrade is over 32768 bytes";
    private const string NoHttp = "the server did not answer the WebSocket upgrade with HTTP";
    private const string Malformed = "the answer to the upgrade is not well-formed HTTP/1.1";
    private const string Refused = "the server refused the upgrade: ";
    private const string Other = "the server switched to a protocol other than WebSocket";
    private const string WrongKey = "the server's Sec-WebSocket-Accept does not match this side's key";
    private const string Unasked = "the server chose an extension or a sub-protocol that was not offered";

    private static readonly byte[] Early = RawWebSocket.Frame(RawWebSocket.Fin | RawWebSocket.Binary, Wire.Frame("early"u8), masked: false);

    // The accept has 28 characters.
    private static string Longest => $"{Good}X: {new string('x', (32 * 1024) - Good.Length - 28 + "{accept}".Length - 7)}\r\n\r\n";

    /// <summary>A name, the answer, and what is said of it; nothing: it is taken.</summary>
    public static TheoryData<string, string, string> Answers() => new()
    {
        // Good ones.
        { "as the native core sends it", $"{Good}\r\n", "" },
        { "fields in another order", $"{Line}{AcceptField}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n", "" },
        { "names and tokens in small letters",
            $"{Line}upgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-accept: {{accept}}\r\n\r\n", "" },
        { "names and tokens in capital letters",
            $"{Line}UPGRADE: WEBSOCKET\r\nCONNECTION: UPGRADE\r\nSEC-WEBSOCKET-ACCEPT: {{accept}}\r\n\r\n", "" },
        { "no blanks behind the colons", $"{Line}Upgrade:websocket\r\nConnection:Upgrade\r\nSec-WebSocket-Accept:{{accept}}\r\n\r\n", "" },
        { "blanks and tabs around values",
            $"{Line}Upgrade: \twebsocket \r\nConnection:\tUpgrade\t\r\nSec-WebSocket-Accept:   {{accept}} \t\r\n\r\n", "" },
        { "Connection lists more", $"{Line}Upgrade: websocket\r\nConnection: keep-alive, Upgrade\r\n{AcceptField}\r\n", "" },
        { "Connection occurs twice", $"{Line}Upgrade: websocket\r\nConnection: keep-alive\r\nConnection: Upgrade\r\n{AcceptField}\r\n",
            "" },
        { "another phrase", $"HTTP/1.1 101 Web Socket Protocol Handshake\r\n{Upgrading}{AcceptField}\r\n", "" },
        { "no phrase, nor a blank before it", $"HTTP/1.1 101\r\n{Upgrading}{AcceptField}\r\n", "" },
        { "an empty phrase", $"HTTP/1.1 101 \r\n{Upgrading}{AcceptField}\r\n", "" },
        { "a proxy's and a framework's fields",
            $"{Good}Server: nginx\r\nDate: Wed, 25 Nov 2026 12:00:00 GMT\r\nVia: 1.1 proxy\r\nSet-Cookie: a=b\r\nSec-WebSocket-Version: "
            + $"13\r\n\r\n", "" },
        { "a Content-Length of 0", $"{Good}Content-Length: 0\r\n\r\n", "" },
        { "bytes above 127 in a value", $"{Good}X: caf\u00e9\r\n\r\n", "" },
        { "an empty value", $"{Good}X:\r\n\r\n", "" },
        { "as long as may be", Longest, "" },

        // Another status: the way to another place is not gone, and nobody is asked for a password.
        { "200", $"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", Refused + "200 OK" },
        { "200, with all that belongs to 101", $"HTTP/1.1 200 OK\r\n{Upgrading}{AcceptField}\r\n", Refused + "200 OK" },
        { "301", "HTTP/1.1 301 Moved Permanently\r\nLocation: ws://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n",
            Refused + "301 Moved Permanently" },
        { "401", "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"a\"\r\nContent-Length: 0\r\n\r\n",
            Refused + "401 Unauthorized" },
        { "426", "HTTP/1.1 426 Upgrade Required\r\nSec-WebSocket-Version: 8\r\n\r\n", Refused + "426 Upgrade Required" },
        { "503", "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\n\r\nlater",
            Refused + "503 Service Unavailable" },
        { "102", $"HTTP/1.1 102 Processing\r\n{Upgrading}{AcceptField}\r\n", Refused + "102 Processing" },
        // HTTP lets a server say so at any time; none does without an Expect.
        { "100 before 101", $"HTTP/1.1 100 Continue\r\n\r\n{Good}\r\n", Refused + "100 Continue" },
        { "two blanks before the status", $"HTTP/1.1  101 Switching Protocols\r\n{Upgrading}{AcceptField}\r\n",
            Refused + " 101 Switching Protocols" },
        { "a status of four digits", $"HTTP/1.1 0101 Switching Protocols\r\n{Upgrading}{AcceptField}\r\n",
            Refused + "0101 Switching Protocols" },
        { "a status that begins the same", $"HTTP/1.1 1010 Switching Protocols\r\n{Upgrading}{AcceptField}\r\n",
            Refused + "1010 Switching Protocols" },
        { "no status", $"HTTP/1.1 \r\n{Upgrading}{AcceptField}\r\n", Refused },
        { "an endless phrase", $"HTTP/1.1 500 {new string('x', 5000)}\r\n\r\n", $"{Refused}500 {new string('x', 246)}" },

        // 101 to something else, or to nobody's question.
        { "no Upgrade", $"{Line}Connection: Upgrade\r\n{AcceptField}\r\n", Other },
        { "an empty Upgrade", $"{Line}Upgrade:\r\nConnection: Upgrade\r\n{AcceptField}\r\n", Other },
        { "Upgrade to something else", $"{Line}Upgrade: h2c\r\nConnection: Upgrade\r\n{AcceptField}\r\n", Other },
        { "Upgrade to something that begins the same", $"{Line}Upgrade: websocket2\r\nConnection: Upgrade\r\n{AcceptField}\r\n", Other },
        { "Upgrade to WebSocket over something else", $"{Line}Upgrade: h2c, websocket\r\nConnection: Upgrade\r\n{AcceptField}\r\n", Other },
        { "Upgrade to something else besides, in a field of its own",
            $"{Line}Upgrade: websocket\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n{AcceptField}\r\n", Other },
        { "no Connection", $"{Line}Upgrade: websocket\r\n{AcceptField}\r\n", Other },
        { "Connection: close", $"{Line}Upgrade: websocket\r\nConnection: close\r\n{AcceptField}\r\n", Other },
        { "no fields at all", $"{Line}\r\n", Other },
        { "no accept", $"{Line}{Upgrading}\r\n", WrongKey },
        { "an empty accept", $"{Line}{Upgrading}Sec-WebSocket-Accept:\r\n\r\n", WrongKey },
        { "the accept of another key", $"{Line}{Upgrading}Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n", WrongKey },
        { "the accept in another letter case", $"{Line}{Upgrading}Sec-WebSocket-Accept: {{ACCEPT}}\r\n\r\n", WrongKey },
        { "the key itself", $"{Line}{Upgrading}Sec-WebSocket-Accept: {{key}}\r\n\r\n", WrongKey },
        { "the accept without its last character", $"{Line}{Upgrading}Sec-WebSocket-Accept: {{accept-}}\r\n\r\n", WrongKey },
        { "the accept in quotes", $"{Line}{Upgrading}Sec-WebSocket-Accept: \"{{accept}}\"\r\n\r\n", WrongKey },
        { "two accepts", $"{Good}Sec-WebSocket-Accept: AAAAAAAAAAAAAAAAAAAAAAAAAAA=\r\n\r\n", WrongKey },
        { "the accept twice", $"{Good}{AcceptField}\r\n", WrongKey },
        { "an extension", $"{Good}Sec-WebSocket-Extensions: permessage-deflate\r\n\r\n", Unasked },
        { "a sub-protocol", $"{Good}Sec-WebSocket-Protocol: chat\r\n\r\n", Unasked },
        { "an empty sub-protocol", $"{Good}Sec-WebSocket-Protocol:\r\n\r\n", Unasked },

        // HTTP that is none.
        { "HTTP/1.0", $"HTTP/1.0 101 Switching Protocols\r\n{Upgrading}{AcceptField}\r\n", Malformed },
        { "HTTP/1.1 and nothing", $"HTTP/1.1\r\n{Upgrading}{AcceptField}\r\n", Malformed },
        { "HTTP/1.2", $"HTTP/1.2 101 Switching Protocols\r\n{Upgrading}{AcceptField}\r\n", Malformed },
        { "HTTP/1.10", $"HTTP/1.10 101 Switching Protocols\r\n{Upgrading}{AcceptField}\r\n", Malformed },
        { "a folded field", $"{Line}Upgrade: websocket\r\nConnection: keep-alive,\r\n Upgrade\r\n{AcceptField}\r\n", Malformed },
        { "a field folded with a tab", $"{Good}X: a\r\n\tb\r\n\r\n", Malformed },
        { "a blank before a colon", $"{Good}X : a\r\n\r\n", Malformed },
        { "a line without a colon", $"{Good}nonsense\r\n\r\n", Malformed },
        { "a field without a name", $"{Good}: a\r\n\r\n", Malformed },
        { "NUL in a value", $"{Good}X: a\0b\r\n\r\n", Malformed },
        { "NUL in the phrase", $"HTTP/1.1 101 a\0b\r\n{Upgrading}{AcceptField}\r\n", Malformed },
        { "a lone LF between fields", $"{Good}X: a\nY: b\r\n\r\n", Malformed },
        { "a lone CR between fields", $"{Good}X: a\rY: b\r\n\r\n", Malformed },
        { "too long by one byte", Longest.Replace("X: ", "X: y", StringComparison.Ordinal), TooLong },
        { "endless", $"{Good}X: {new string('x', 40_000)}", TooLong },
        { "lone LFs everywhere, and too long",
            $"{Good.Replace("\r", "", StringComparison.Ordinal)}\n{new string('\n', 32 * 1024)}", TooLong },
        { "an empty line first", $"\r\n{Good}\r\n", NoHttp },
        { "small letters", $"http/1.1 101 Switching Protocols\r\n{Upgrading}{AcceptField}\r\n", NoHttp },
        { "HTTP/2", $"HTTP/2 101\r\n{Upgrading}{AcceptField}\r\n", NoHttp },
        { "the first frame of HTTP/2", "\0\0\u0012\u0004\0\0\0\0\0", NoHttp },
        { "our own request", "GET / HTTP/1.1\r\nHost: a\r\n\r\n", NoHttp },
        { "a TLS alert", "\u0015\u0003\u0003\0\u0002\u0002\u0046", NoHttp },
        { "SSH", "SSH-2.0-OpenSSH_9.9\r\n", NoHttp },
        { "ZMP", "Z\u0001\u0002\0\0\0\0\u0009", NoHttp },
        { "a frame without an answer", "\u0082\u0005\0\0\0\u0001a", NoHttp },
    };

    [Theory]
    [MemberData(nameof(Answers))]
    public async Task An_answer_is_taken_or_the_attempt_fails_with_the_reason(string name, string answer, string complaint)
    {
        await using var fixture = new StreamFixture();
        StreamSocket client = fixture.Context.CreateStream();
        RawListener listener = fixture.Listen();
        using EventReader monitor = client.ReadEvents(SocketEventTypes.HandshakeFailedNoDetail | SocketEventTypes.Disconnected);
        Task<uint> connecting = client.ConnectAsync(RawWebSocket.WsOf(listener), Guard.Token).AsTask();
        RawWebSocket server = fixture.Own(await AnswerAsync(listener, answer));
        Assert.NotEmpty(name);
        if (complaint.Length == 0)
        {
            await AssertServedAsync(client, server, await connecting.Guarded());
        }
        else
        {
            ZlinkException thrown = await Assert.ThrowsAsync<ZlinkException>(() => connecting.Guarded());
            Assert.Equal(ZlinkError.ConnectionRefused, thrown.Error);
            Assert.EndsWith($": {complaint} (ConnectionRefused)", thrown.Message, StringComparison.Ordinal);
            Assert.Equal(complaint, (await monitor.NextAsync(SocketEventTypes.HandshakeFailedNoDetail)).Detail);
            Assert.Equal(complaint, (await monitor.NextAsync(SocketEventTypes.Disconnected)).Detail);
            Assert.Equal(0, await CountToAnyEndAsync(server.Peer));
            Assert.False(client.TryReceive(out StreamMessage _)); // The application's queue never heard of it.
            await fixture.UntilAsync(() => client.GetStatistics().HandshakeFailures.Malformed == 1);
        }

        connecting = client.ConnectAsync(RawWebSocket.WsOf(listener), Guard.Token).AsTask();
        server = fixture.Own(await AnswerAsync(listener, $"{Good}\r\n"));
        await AssertServedAsync(client, server, await connecting.Guarded());
        Assert.Equal(complaint.Length == 0 ? 0 : 1, client.GetStatistics().FailedHandshakes);
    }

    [Fact]
    public async Task An_answer_may_come_byte_by_byte()
    {
        await using var fixture = new StreamFixture();
        StreamSocket client = fixture.Context.CreateStream();
        RawListener listener = fixture.Listen();
        Task<uint> connecting = client.ConnectAsync(RawWebSocket.WsOf(listener), Guard.Token).AsTask();
        RawWebSocket server = fixture.Own(new RawWebSocket(await listener.AcceptAsync()));
        foreach (byte one in Fill($"{Good}\r\n", await server.ReadHeadAsync()))
        {
            Assert.False(connecting.IsCompleted);
            await server.SendAsync(one);
            await fixture.SettleAsync();
        }

        await server.SendAsync(Early);
        await AssertServedAsync(client, server, await connecting.Guarded());
    }

    [Theory]
    [InlineData(1)]
    [InlineData(100)]
    [InlineData(20_000)]
    public async Task Bytes_behind_the_upgrade_answer_are_the_first_data_and_may_be_the_last(int frames)
    {
        await using var fixture = new StreamFixture();
        StreamSocket client = fixture.Context.CreateStream();
        RawListener listener = fixture.Listen();
        Task<uint> connecting = client.ConnectAsync(RawWebSocket.WsOf(listener), Guard.Token).AsTask();
        RawWebSocket server = fixture.Own(new RawWebSocket(await listener.AcceptAsync()));
        byte[] answer = Fill($"{Good}\r\n", await server.ReadHeadAsync());
        await server.SendAsync([.. answer, .. Enumerable.Repeat(Early, frames).SelectMany(static f => f),
            .. RawWebSocket.CloseFrame(1001, masked: false)]);
        server.Peer.EndSending();
        uint id = await connecting.Guarded();
        Assert.Equal(id, await client.NextConnectedAsync());
        for (int i = 0; i < frames; i++)
        {
            Assert.Equal("early"u8.ToArray(), await client.NextDataAsync(id));
        }

        Assert.Equal((id, DisconnectReason.Remote), await client.NextDisconnectedAsync());
        Assert.Equal(1001, (await server.ReadFrameAsync())!.Code);
        Assert.Null(await server.ReadFrameAsync());
    }

    [Theory]
    [InlineData("")]
    [InlineData("HTTP/1.1 101 Switching Protocols\r\nUpgrade: webso")]
    public async Task A_server_whose_answer_never_comes_whole_is_left_when_the_time_is_up(string begun)
    {
        var time = new ManualTimeProvider();
        await using var fixture = new StreamFixture(time: time);
        StreamSocket client = fixture.Context.CreateStream();
        client.Options.HandshakeInterval = TimeSpan.FromSeconds(7);
        RawListener listener = fixture.Listen();
        Task<uint> connecting = client.ConnectAsync(RawWebSocket.WsOf(listener), Guard.Token).AsTask();
        RawWebSocket server = fixture.Own(new RawWebSocket(await listener.AcceptAsync()));
        await server.ReadHeadAsync(); // The exchange's clock runs by then.
        await server.SendAsync(Encoding.ASCII.GetBytes(begun));
        await fixture.SettleAsync();
        time.Advance(TimeSpan.FromSeconds(6));
        await fixture.SettleAsync();
        Assert.False(connecting.IsCompleted);
        time.Advance(TimeSpan.FromSeconds(2));
        ZlinkException thrown = await Assert.ThrowsAsync<ZlinkException>(() => connecting.Guarded());
        Assert.Equal(ZlinkError.TimedOut, thrown.Error);
        Assert.EndsWith("the WebSocket upgrade was not complete within 7000 ms (TimedOut)", thrown.Message, StringComparison.Ordinal);
        Assert.Equal(0, await CountToAnyEndAsync(server.Peer));
        await fixture.UntilAsync(() => client.GetStatistics().HandshakeFailures.TimedOut == 1);
    }

    /// <summary>Takes a connection and its request, and answers; a frame comes in the same segment.</summary>
    private static async Task<RawWebSocket> AnswerAsync(RawListener listener, string answer)
    {
        var server = new RawWebSocket(await listener.AcceptAsync());
        await server.SendAsync([.. Fill(answer, await server.ReadHeadAsync()), .. Early]);
        return server;
    }

    private static byte[] Fill(string answer, string request)
    {
        string key = RawWebSocket.KeyOf(request);
        string accept = RawWebSocket.AcceptFor(key);
        return Encoding.Latin1.GetBytes(answer
            .Replace("{key}", key, StringComparison.Ordinal)
            .Replace("{accept}", accept, StringComparison.Ordinal)
            .Replace("{accept-}", accept[..^1], StringComparison.Ordinal)
            .Replace("{ACCEPT}", string.Concat(accept.Select(
                static c => char.IsAsciiLetterLower(c) ? char.ToUpperInvariant(c) : char.ToLowerInvariant(c))), StringComparison.Ordinal));
    }

    private static async Task AssertServedAsync(StreamSocket client, RawWebSocket server, uint id)
    {
        Assert.Equal(id, await client.NextConnectedAsync());
        Assert.Equal("early"u8.ToArray(), await client.NextDataAsync(id));
        Assert.True(client.To(id).TrySend("hello"u8));
        WebSocketFrame? frame = await server.ReadFrameAsync();
        Assert.True(frame!.IsMasked);
        Assert.Equal(Wire.Frame("hello"u8), frame.Payload);
        server.Peer.Reset();
        Assert.Equal((id, DisconnectReason.TransportError), await client.NextDisconnectedAsync());
    }

    /// <summary>The bytes that still come before the end, which is a reset where the answer was left unread in part.</summary>
    private static async Task<int> CountToAnyEndAsync(RawPeer peer)
    {
        try
        {
            return (await peer.ReadAsync(1)).Length;
        }
        catch (SocketException)
        {
            return 0;
        }
    }
}
