using System.Globalization;
using System.Text;
using Net.Zlink.Monitoring;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Transports.WebSocket;

/// <summary>Requests to a listener over a real socket: what each is answered with, and that the next client is served all the
/// same.</summary>
public sealed class UpgradeRequestTests
{
    private const string KeyField = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    private const string VersionField = "Sec-WebSocket-Version: 13\r\n";
    private const string Upgrading = "Upgrade: websocket\r\nConnection: Upgrade\r\n";
    private const string Asking = Upgrading + KeyField + VersionField;
    private const string Line = "GET / HTTP/1.1\r\nHost: a\r\n";
    private const int Closed = 0;

    private static string Longest => $"{Line}{Asking}X: {new string('x', (32 * 1024) - Line.Length - Asking.Length - 7)}\r\n\r\n";

    public static TheoryData<string, string, int> Requests() => new()
    {
        // Good ones.
        { "as the native core sends it", "GET / HTTP/1.1\r\nHost: 127.0.0.1:5555\r\n" + Asking + "\r\n", 101 },
        { "fields in another order",
            $"GET / HTTP/1.1\r\n{VersionField}{KeyField}Connection: Upgrade\r\nUpgrade: websocket\r\nHost: a\r\n\r\n", 101 },
        { "names and tokens in another letter case",
            "GET / HTTP/1.1\r\nhOST: a\r\nUPGRADE: WebSocket\r\nconnection: uPGRADE\r\nsec-websocket-KEY: "
            + "dGhlIHNhbXBsZSBub25jZQ==\r\nSEC-WebSocket-version: 13\r\n\r\n", 101 },
        { "Connection lists more", $"{Line}Upgrade: websocket\r\nConnection: keep-alive, Upgrade\r\n{KeyField}{VersionField}\r\n", 101 },
        { "Connection occurs twice",
            $"{Line}Upgrade: websocket\r\nConnection: keep-alive\r\nConnection: Upgrade\r\n{KeyField}{VersionField}\r\n", 101 },
        { "Upgrade lists more", $"{Line}Upgrade: h2c, websocket\r\nConnection: Upgrade\r\n{KeyField}{VersionField}\r\n", 101 },
        { "no blanks behind the colons",
            "GET / HTTP/1.1\r\nHost:a\r\nUpgrade:websocket\r\nConnection:Upgrade\r\n"
            + "Sec-WebSocket-Key:dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version:13\r\n\r\n", 101 },
        { "blanks and tabs around values",
            $"GET / HTTP/1.1\r\nHost:\t a \r\nUpgrade:  websocket\t\r\nConnection: \tUpgrade  \r\n{KeyField}{VersionField}\r\n", 101 },
        { "sub-protocols and extensions are offered",
            $"{Line}{Asking}Sec-WebSocket-Protocol: chat, superchat\r\nSec-WebSocket-Extensions: permessage-deflate; "
            + $"client_max_window_bits\r\n\r\n", 101 },
        { "a browser's fields",
            $"{Line}{Asking}Origin: https://shop.example\r\nUser-Agent: Mozilla/5.0\r\nAccept-Language: de,en\r\nCookie: a=b; "
            + $"c=d\r\nPragma: no-cache\r\n\r\n", 101 },
        { "a path and a query", $"GET /some/path?a=b&c=%20 HTTP/1.1\r\nHost: a\r\n{Asking}\r\n", 101 },
        { "the target is an address", $"GET http://a/ HTTP/1.1\r\nHost: a\r\n{Asking}\r\n", 101 },
        { "an empty Host", $"GET / HTTP/1.1\r\nHost:\r\n{Asking}\r\n", 101 },
        { "a Content-Length of 0", $"{Line}{Asking}Content-Length: 0\r\n\r\n", 101 },
        { "bytes above 127 in a value", $"{Line}{Asking}X: caf\u00e9\r\n\r\n", 101 },
        { "an empty value", $"{Line}{Asking}X:\r\n\r\n", 101 },
        { "as long as may be", Longest, 101 },

        // Bad ones that are HTTP.
        { "wrong version", $"{Line}{Upgrading}{KeyField}Sec-WebSocket-Version: 8\r\n\r\n", 426 },
        { "several versions in one field", $"{Line}{Upgrading}{KeyField}Sec-WebSocket-Version: 13, 8\r\n\r\n", 426 },
        { "an empty version", $"{Line}{Upgrading}{KeyField}Sec-WebSocket-Version:\r\n\r\n", 426 },
        { "no version", $"{Line}{Upgrading}{KeyField}\r\n", 400 },
        { "two versions", $"{Line}{Asking}{VersionField}\r\n", 400 },
        { "no key", $"{Line}{Upgrading}{VersionField}\r\n", 400 },
        { "two keys", $"{Line}{Asking}{KeyField}\r\n", 400 },
        { "a short key", $"{Line}{Upgrading}Sec-WebSocket-Key: AAAA\r\n{VersionField}\r\n", 400 },
        { "a key that is no base64", $"{Line}{Upgrading}Sec-WebSocket-Key: !!!!!!!!!!!!!!!!!!!!!!==\r\n{VersionField}\r\n", 400 },
        { "no Upgrade", $"{Line}Connection: Upgrade\r\n{KeyField}{VersionField}\r\n", 400 },
        { "no Connection", $"{Line}Upgrade: websocket\r\n{KeyField}{VersionField}\r\n", 400 },
        { "Upgrade to something else", $"{Line}Upgrade: h2c\r\nConnection: Upgrade\r\n{KeyField}{VersionField}\r\n", 400 },
        { "Connection: close", $"{Line}Upgrade: websocket\r\nConnection: close\r\n{KeyField}{VersionField}\r\n", 400 },
        { "a plain GET", $"{Line}\r\n", 400 },
        { "no Host", $"GET / HTTP/1.1\r\n{Asking}\r\n", 400 },
        { "two Hosts", $"{Line}Host: b\r\n{Asking}\r\n", 400 },
        { "POST", $"POST / HTTP/1.1\r\nHost: a\r\n{Asking}\r\n", 400 },
        { "POST with a body", $"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n{Asking}\r\nbody", 400 },
        { "two Content-Lengths, the last of 0", $"{Line}{Asking}Content-Length: 4\r\nContent-Length: 0\r\n\r\nbody", 400 },
        { "GET with a body", $"{Line}{Asking}Content-Length: 4\r\n\r\nbody", 400 },
        { "GET with a chunked body", $"{Line}{Asking}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400 },
        { "HEAD", $"HEAD / HTTP/1.1\r\nHost: a\r\n{Asking}\r\n", 400 },
        { "OPTIONS *", "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", 400 },
        { "CONNECT", $"CONNECT a:80 HTTP/1.1\r\nHost: a\r\n{Asking}\r\n", 400 },
        { "HTTP/1.0", $"GET / HTTP/1.0\r\nHost: a\r\n{Asking}\r\n", 400 },
        { "HTTP/1.2", $"GET / HTTP/1.2\r\nHost: a\r\n{Asking}\r\n", 400 },
        { "no version of HTTP", $"GET /\r\nHost: a\r\n{Asking}\r\n", 400 },
        { "the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400 },
        { "the target is an address of another kind", $"GET ftp://a/ HTTP/1.1\r\nHost: a\r\n{Asking}\r\n", 400 },
        { "the target is an address without a host", $"GET http:///a HTTP/1.1\r\nHost: a\r\n{Asking}\r\n", 400 },
        { "the target is a scheme", $"GET http:// HTTP/1.1\r\nHost: a\r\n{Asking}\r\n", 400 },
        { "no target", $"GET  HTTP/1.1\r\nHost: a\r\n{Asking}\r\n", 400 },
        { "a target with a blank", $"GET /a b HTTP/1.1\r\nHost: a\r\n{Asking}\r\n", 400 },
        { "a folded field", $"{Line}{Asking}X: a\r\n b\r\n\r\n", 400 },
        { "a blank before a colon", $"{Line}{Asking}X : a\r\n\r\n", 400 },
        { "a blank before the first field", $"GET / HTTP/1.1\r\n Host: a\r\n{Asking}\r\n", 400 },
        { "a line without a colon", $"{Line}{Asking}nonsense\r\n\r\n", 400 },
        { "a field without a name", $"{Line}{Asking}: a\r\n\r\n", 400 },
        { "NUL in a value", $"{Line}{Asking}X: a\0b\r\n\r\n", 400 },
        { "NUL in a name", $"{Line}{Asking}X\0: a\r\n\r\n", 400 },
        { "NUL in the target", $"GET /\0 HTTP/1.1\r\nHost: a\r\n{Asking}\r\n", 400 },
        { "a lone LF between fields", $"{Line}{Asking}X: a\nY: b\r\n\r\n", 400 },
        { "a lone CR between fields", $"{Line}{Asking}X: a\rY: b\r\n\r\n", 400 },
        { "two Origins", $"{Line}{Asking}Origin: http://a\r\nOrigin: http://b\r\n\r\n", 400 },

        { "cookies of 12 KiB", $"{Line}{Asking}Cookie: .AspNetCore.Cookies={new string('c', 12_288)}\r\n\r\n", 101 },

        // Over 32 KiB.
        { "lone LFs everywhere, and too long", $"GET / HTTP/1.1\nHost: a\n\n{new string('\n', 32 * 1024)}", 431 },
        { "too long by one byte", Longest.Replace("X: ", "X: y", StringComparison.Ordinal), 431 },
        { "endless", $"{Line}X: {new string('x', 50_000)}", 431 },

        // What is no HTTP, or never becomes it: closed without a word.
        { "a method in small letters", $"get / HTTP/1.1\r\nHost: a\r\n{Asking}\r\n", Closed },
        { "an empty line first", $"\r\n{Line}{Asking}\r\n", Closed },
        { "TLS", "\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003", Closed },
        { "ZMP", "Z\u0001\u0002\u0000\u0000\u0000\u0000\u0009", Closed },
        { "SSH", "SSH-2.0-OpenSSH_9.9\r\n", Closed },
        { "a method without an end", new string('A', 30), Closed },
    };

    [Theory]
    [MemberData(nameof(Requests))]
    public async Task A_request_gets_its_answer_and_the_next_client_is_served(string name, string request, int status)
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Context.CreateStream();
        string endpoint = socket.Bind("ws://127.0.0.1:0");
        Assert.NotEmpty(name);
        await AssertAnswerAsync(fixture, socket, endpoint, request, status);
        await AssertServedAsync(fixture, socket, endpoint);

        // Counted behind the end of the connection, which the peer may have seen first.
        await fixture.UntilAsync(() => socket.GetStatistics().FailedHandshakes == (status == 101 ? 0 : 1));
    }

    [Theory]
    [InlineData("/chat", 101)]
    [InlineData("/chat?user=1", 101)]
    [InlineData("/chat/", 404)]
    [InlineData("/CHAT", 404)]
    [InlineData("/", 404)]
    [InlineData("/?/chat", 404)]
    [InlineData("http://a/chat", 101)]
    [InlineData("HTTPS://a:1/chat?user=1", 101)]
    [InlineData("http://a", 404)]
    [InlineData("http://a?/chat", 404)]
    [InlineData("http://chat/", 404)]
    public async Task Only_allowed_paths_are_served(string path, int status)
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Context.CreateStream();
        socket.Options.WebSocket.AllowedPaths.Add("/chat");
        await AssertAnswerAsync(fixture, socket, socket.Bind("ws://127.0.0.1:0/chat"), $"GET {path} HTTP/1.1\r\nHost: a\r\n{Asking}\r\n",
            status);
    }

    [Theory]
    [InlineData("Origin: https://shop.example\r\n", 101)]
    [InlineData("Origin: HTTPS://Shop.Example\r\n", 101)]
    [InlineData("", 101)] // no browser
    [InlineData("Origin: https://shop.example:444\r\n", 403)]
    [InlineData("Origin: http://shop.example\r\n", 403)]
    [InlineData("Origin: https://shop.example.evil\r\n", 403)]
    [InlineData("Origin: null\r\n", 403)]
    [InlineData("Origin:\r\n", 403)]
    public async Task Only_pages_of_allowed_origins_are_served(string origin, int status)
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Context.CreateStream();
        socket.Options.WebSocket.AllowedOrigins.Add("https://shop.example");
        await AssertAnswerAsync(fixture, socket, socket.Bind("ws://127.0.0.1:0"), $"{Line}{Asking}{origin}\r\n", status);
    }

    [Theory]
    [InlineData("https://shop.example/", false)]
    [InlineData("shop.example", false)]
    [InlineData("*", false)]
    [InlineData("https://", false)]
    [InlineData("https://*.example", false)]
    [InlineData("http://localhost:8080", true)]
    [InlineData("chrome-extension://abcdef", true)]
    [InlineData("null", true)]
    [InlineData("file://", true)]
    public async Task An_allowed_origin_that_none_can_ever_have_is_refused_when_it_is_bound(string origin, bool isOne)
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Context.CreateStream();
        socket.Options.WebSocket.AllowedOrigins.Add(origin);
        ZlinkException? refused = isOne ? null : Assert.Throws<ZlinkException>(() => socket.Bind("ws://127.0.0.1:0"));
        Assert.Equal(isOne, refused is null);
        Assert.Equal(!isOne, refused?.Message.Contains($"\"{origin}\" in WebSocket.AllowedOrigins is not an origin",
            StringComparison.Ordinal) ?? false);
        socket.Options.WebSocket.AllowedOrigins.Clear();
        socket.Bind("ws://127.0.0.1:0");
        socket.Options.WebSocket.AllowedPaths.Add("feed");
        Assert.Contains("is not a path", Assert.Throws<ZlinkException>(() => socket.Bind("ws://127.0.0.1:0")).Message,
            StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("\u0016\u0003\u0001\u0002\u0000", "the peer's bytes are not an HTTP request; it looks like TLS: "
        + "one side's endpoint is tls or wss, and the other's is not")]
    [InlineData("Z\u0001\u0002\u0000\u0000", "the peer's bytes are not an HTTP request; it looks like ZMP over tcp: "
        + "one side's endpoint is not ws")]
    [InlineData("hello, world", "the peer's bytes are not an HTTP request")]
    public async Task An_event_names_the_protocol_that_a_peer_speaks_instead_of_HTTP(string said, string detail)
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Context.CreateStream();
        using EventReader monitor = socket.ReadEvents(SocketEventTypes.HandshakeFailedNoDetail);
        RawPeer peer = await fixture.ConnectAsync(RawWebSocket.TcpOf(socket.Bind("ws://127.0.0.1:0")));
        await peer.SendAsync(Encoding.Latin1.GetBytes(said));
        Assert.Equal(detail, (await monitor.NextAsync(SocketEventTypes.HandshakeFailedNoDetail)).Detail);
    }

    [Fact]
    public async Task A_request_may_come_byte_by_byte()
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Context.CreateStream();
        string endpoint = socket.Bind("ws://127.0.0.1:0");
        using var client = new RawWebSocket(await RawPeer.ConnectAsync(RawWebSocket.TcpOf(endpoint)));
        foreach (char c in RawWebSocket.Request)
        {
            await client.SendAsync((byte)c);
            await fixture.SettleAsync();
        }

        Assert.StartsWith("HTTP/1.1 101 ", await client.ReadHeadAsync(), StringComparison.Ordinal);
        await socket.NextConnectedAsync();
    }

    [Theory]
    [InlineData(1)]
    [InlineData(100)]
    [InlineData(20_000)]
    public async Task Bytes_behind_the_upgrade_request_are_the_first_data(int frames)
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Context.CreateStream();
        string endpoint = socket.Bind("ws://127.0.0.1:0");
        using var client = new RawWebSocket(await RawPeer.ConnectAsync(RawWebSocket.TcpOf(endpoint)));
        byte[] frame = RawWebSocket.Frame(0x82, Wire.Frame("early"u8));
        await client.SendAsync([.. Encoding.ASCII.GetBytes(RawWebSocket.Request),
            .. Enumerable.Repeat(frame, frames).SelectMany(static f => f)]);
        uint id = await socket.NextConnectedAsync();
        for (int i = 0; i < frames; i++)
        {
            Assert.Equal("early"u8.ToArray(), await socket.NextDataAsync(id));
        }
    }

    [Fact]
    public async Task A_client_that_never_asks_is_closed_when_the_time_is_up_and_one_that_leaves_is_noticed()
    {
        var time = new ManualTimeProvider();
        await using var fixture = new StreamFixture(time: time);
        StreamSocket socket = fixture.Context.CreateStream();
        socket.Options.HandshakeInterval = TimeSpan.FromSeconds(7);
        using EventReader monitor = socket.ReadEvents(
            SocketEventTypes.Accepted | SocketEventTypes.HandshakeFailedNoDetail | SocketEventTypes.Disconnected);
        string endpoint = socket.Bind("ws://127.0.0.1:0");
        int idle = time.ArmedTimers;

        // Half a request, then nothing.
        using RawPeer silent = await fixture.ConnectAsync(RawWebSocket.TcpOf(endpoint));
        await silent.SendAsync("GET / HTTP/1.1\r\nHost"u8.ToArray());
        await monitor.NextAsync(SocketEventTypes.Accepted);

        // The clock of the request, not that of the first bytes before it, which these end.
        await fixture.UntilAsync(() => fixture.Context.Host.Handshakes.Running == 1 && time.ArmedTimers > idle);
        time.Advance(TimeSpan.FromSeconds(8));
        SocketEvent failed = await monitor.NextAsync(SocketEventTypes.HandshakeFailedNoDetail);
        Assert.Equal("the WebSocket upgrade was not complete within 7000 ms", failed.Detail);
        await silent.ReadToAnyEndAsync();

        RawPeer leaving = await fixture.ConnectAsync(RawWebSocket.TcpOf(endpoint));
        leaving.Dispose();
        failed = await monitor.NextAsync(SocketEventTypes.HandshakeFailedNoDetail);
        Assert.Contains("closed the connection before it asked", failed.Detail, StringComparison.Ordinal);
        await monitor.NextAsync(SocketEventTypes.Disconnected);
        await fixture.UntilAsync(() => socket.GetStatistics().FailedHandshakes == 2);
    }

    private static async Task AssertAnswerAsync(StreamFixture fixture, StreamSocket socket, string endpoint, string request, int status)
    {
        using EventReader monitor = socket.ReadEvents(SocketEventTypes.HandshakeFailedNoDetail | SocketEventTypes.Disconnected);
        using var client = new RawWebSocket(await RawPeer.ConnectAsync(RawWebSocket.TcpOf(endpoint)));
        await client.SendAsync(Encoding.Latin1.GetBytes(request));
        if (status == 101)
        {
            string head = await client.ReadHeadAsync();
            Assert.Equal("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: "
                + "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n", head);
            uint id = await socket.NextConnectedAsync();
            await client.SendMessageAsync(Wire.Frame("hello"u8));
            Assert.Equal("hello"u8.ToArray(), await socket.NextDataAsync(id));
            client.Peer.Reset();
            await socket.NextDisconnectedAsync();
            return;
        }

        string answer = Encoding.Latin1.GetString(await client.Peer.ReadToEndAsync());
        client.Dispose(); // Only then the listener, which waits for our end, lets go and reports.
        SocketEvent failed = await monitor.NextAsync(SocketEventTypes.HandshakeFailedNoDetail);
        if (status == Closed)
        {
            Assert.Equal("", answer);
            Assert.False(string.IsNullOrEmpty(failed.Detail));
        }
        else
        {
            Assert.StartsWith(string.Create(CultureInfo.InvariantCulture, $"HTTP/1.1 {status} "), answer, StringComparison.Ordinal);
            string[] parts = answer.Split("\r\n\r\n");
            Assert.Contains(string.Create(CultureInfo.InvariantCulture, $"Content-Length: {parts[1].Length}"), parts[0],
                StringComparison.Ordinal);
            Assert.Equal(status == 426, parts[0].Contains("Sec-WebSocket-Version: 13", StringComparison.Ordinal));
            Assert.StartsWith(string.Create(CultureInfo.InvariantCulture, $"the upgrade was refused with status {status}: {parts[1]}"),
                failed.Detail, StringComparison.Ordinal);
            Assert.Equal(status == 403, failed.Detail!.EndsWith("is not among AllowedOrigins)", StringComparison.Ordinal));
        }

        SocketEvent disconnected = await monitor.NextAsync(SocketEventTypes.Disconnected);
        Assert.Equal(failed.Detail, disconnected.Detail);
        await fixture.UntilAsync(() => socket.GetStatistics().FailedHandshakes == 1);
    }

    private static async Task AssertServedAsync(StreamFixture fixture, StreamSocket socket, string endpoint)
    {
        RawWebSocket next = fixture.Own(await RawWebSocket.ConnectAsync(endpoint));
        uint id = await socket.NextConnectedAsync();
        Assert.True(socket.To(id).TrySend("welcome"u8));
        WebSocketFrame? frame = await next.ReadFrameAsync();
        Assert.Equal(Wire.Frame("welcome"u8), frame!.Payload);
    }
}
