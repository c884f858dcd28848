using System.Net;
using System.Text;
using Net.Zlink.Monitoring;
using Net.Zlink.Tests.Support;
using Net.Zlink.Tests.Transports.Tls;
using Xunit;

namespace Net.Zlink.Tests.Transports.WebSocket;

/// <summary>What a peer asked for its WebSocket with, and an application that judges it.</summary>
public sealed class AdmissionTests
{
    private static readonly string s_request = RawWebSocket.Request
        .Replace("GET / ", "GET /chat?token=7 ", StringComparison.Ordinal)
        .Replace("\r\n\r\n", "\r\nOrigin: https://shop.example\r\nCookie: a=1\r\ncookie: b=\u00fc\r\n\r\n", StringComparison.Ordinal);

    [Fact]
    public async Task A_STREAM_peer_and_a_pipe_say_what_they_asked_with_and_who_came_otherwise_says_nothing()
    {
        await using var fixture = new StreamFixture();
        StreamSocket server = fixture.Context.CreateStream();
        await AskAsync(fixture, server.Bind("ws://127.0.0.1:0"), s_request);
        Assert.True(server.TryGetPeer(await server.NextConnectedAsync(), out StreamPeer? peer));
        AssertIsTheRequest(peer.WebSocketRequest!.Value);
        Assert.Equal(peer.RemoteEndPoint, peer.WebSocketRequest.Value.RemoteEndPoint);
        var seen = new TaskCompletionSource<WebSocketRequest?>();
        string raw = server.BindPipe("ws://127.0.0.1:0", pipe =>
        {
            seen.SetResult(pipe.WebSocketRequest);
            return Task.CompletedTask;
        });
        await AskAsync(fixture, raw, s_request);
        AssertIsTheRequest((await seen.Task.Guarded())!.Value);
        StreamSocket client = fixture.Context.CreateStream();
        uint id = await client.ConnectAsync(server.Bind("ws://127.0.0.1:0"), Guard.Token).Guarded();
        Assert.True(client.TryGetPeer(id, out StreamPeer? asked));
        Assert.Null(asked.WebSocketRequest); // It was asked, by us.
        Assert.True(server.TryGetPeer(await server.NextConnectedAsync(), out StreamPeer? first));
        await client.ConnectAsync(server.Bind("tcp://127.0.0.1:0"), Guard.Token).Guarded();
        Assert.True(server.TryGetPeer(await server.NextConnectedAsync(), out StreamPeer? second));
        Assert.Equal("/", first.WebSocketRequest!.Value.ToString());
        Assert.Null(second.WebSocketRequest);
    }

    [Fact]
    public async Task A_message_and_a_peer_of_a_ZMP_socket_say_so_too()
    {
        await using var fixture = new ContextFixture();
        RouterSocket router = fixture.Context.CreateRouter();
        DealerSocket dealer = fixture.Context.CreateDealer();
        dealer.Connect(router.Bind("ws://127.0.0.1:0/ours") + "?token=8");
        await dealer.SendAsync("hello"u8.ToArray(), Guard.Token);
        using Message message = await router.ReceiveAsync(Guard.Token).Guarded();
        Assert.Equal(("/ours", "?token=8", "/ours"),
            (message.WebSocketRequest!.Value.Path, message.WebSocketRequest.Value.Query, message.WebSocketRequest.ToString()));
        Assert.Null(message.WebSocketRequest!.Value.Origin);
        using Message copy = message.Copy();
        Assert.Equal("?token=8", copy.WebSocketRequest!.Value.Query);
        Assert.Equal("/ours", Assert.Single(router.GetPeers()).WebSocketRequest!.Value.Path);
        Assert.Null(Assert.Single(dealer.GetPeers()).WebSocketRequest);
        Assert.Null(default(Message).WebSocketRequest);
    }

    [Theory]
    [InlineData("http://localhost?token=7", "/", "?token=7")]
    [InlineData("http://localhost/a?b?c", "/a", "?b?c")]
    [InlineData("http://localhost", "/", "")]
    [InlineData("/\u00e4?\u00f6", "/\u00e4", "?\u00f6")]
    public async Task Path_and_query_are_what_was_written(string target, string path, string query)
    {
        await using var fixture = new StreamFixture();
        StreamSocket server = fixture.Context.CreateStream();
        await AskAsync(fixture, server.Bind("ws://127.0.0.1:0"),
            RawWebSocket.Request.Replace("GET / ", $"GET {target} ", StringComparison.Ordinal));
        Assert.True(server.TryGetPeer(await server.NextConnectedAsync(), out StreamPeer? peer));
        Assert.Equal((path, query), (peer.WebSocketRequest!.Value.Path, peer.WebSocketRequest.Value.Query));
    }

    [Fact]
    public void Of_nothing_nothing_is_known()
    {
        WebSocketRequest none = default;
        Assert.Equal("", none.Path + none.Query + none);
        Assert.Null(none.Origin);
        Assert.Null(none.GetHeader("Host"));
        Assert.Throws<ArgumentNullException>(() => none.GetHeader(null!));
    }

    [Fact]
    public async Task An_admitted_WebSocket_peer_connects_and_a_refused_one_is_told_why_as_the_monitor_is()
    {
        await using var fixture = new StreamFixture();
        StreamSocket server = fixture.Context.CreateStream();
        server.Options.WebSocket.Admission = async (request, cancellation) =>
        {
            await Task.Yield();
            Assert.False(cancellation.IsCancellationRequested);
            Assert.IsType<IPEndPoint>(request.RemoteEndPoint);
            return request.Query is "?token=7" ? WebSocketAdmission.Accept : WebSocketAdmission.Refuse(401, $"Who is {request.Path}?");
        };
        using EventReader monitor = server.ReadEvents(SocketEventTypes.HandshakeFailedNoDetail);
        string endpoint = server.Bind("ws://127.0.0.1:0");
        RawPeer refused = await fixture.ConnectAsync(RawWebSocket.TcpOf(endpoint));
        await refused.SendAsync(Encoding.ASCII.GetBytes(RawWebSocket.Request));
        string answer = Encoding.ASCII.GetString(await refused.ReadToEndAsync());
        Assert.StartsWith("HTTP/1.1 401 Who is /?\r\n", answer, StringComparison.Ordinal);
        Assert.EndsWith("\r\nContent-Length: 9\r\n\r\nWho is /?", answer, StringComparison.Ordinal);
        Assert.Equal("the upgrade was refused with status 401: Who is /?", (await monitor.ReadAsync(Guard.Token).Guarded()).Detail);
        await AskAsync(fixture, endpoint, s_request);
        Assert.True(server.TryGetPeer(await server.NextConnectedAsync(), out StreamPeer? peer));
        Assert.Equal("?token=7", peer.WebSocketRequest!.Value.Query);
        await fixture.UntilAsync(() => server.GetStatistics().FailedHandshakes == 1); // Counted behind the event.
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task An_exception_of_the_admission_callback_refuses_the_peer_and_is_reported_on_this_side_only(bool late)
    {
        await using var fixture = new StreamFixture();
        StreamSocket server = fixture.Context.CreateStream();
        server.Options.WebSocket.Admission = async (_, _) =>
        {
            if (late)
            {
                await Task.Yield();
            }

            throw new NotSupportedException("no data base");
        };
        using EventReader monitor = server.ReadEvents(SocketEventTypes.HandshakeFailedNoDetail);
        RawPeer peer = await fixture.ConnectAsync(RawWebSocket.TcpOf(server.Bind("ws://127.0.0.1:0")));
        await peer.SendAsync(Encoding.ASCII.GetBytes(RawWebSocket.Request));
        string answer = Encoding.ASCII.GetString(await peer.ReadToEndAsync());
        Assert.StartsWith("HTTP/1.1 500 ", answer, StringComparison.Ordinal);
        Assert.DoesNotContain("data base", answer, StringComparison.Ordinal);
        Assert.Contains("NotSupportedException: no data base", (await monitor.ReadAsync(Guard.Token).Guarded()).Detail,
            StringComparison.Ordinal);
    }

    [Fact]
    public async Task While_one_call_sleeps_others_are_let_in_and_it_is_given_up_with_the_time_for_the_handshake()
    {
        var clock = new ManualTimeProvider();
        await using var fixture = new StreamFixture(time: clock);
        StreamSocket server = fixture.Context.CreateStream();
        using var gate = new ManualResetEventSlim();
        var entered = new TaskCompletionSource<CancellationToken>(TaskCreationOptions.RunContinuationsAsynchronously);
        server.Options.WebSocket.Admission = (request, cancellation) =>
        {
            if (request.Query.Length == 0)
            {
                entered.SetResult(cancellation);
                Assert.True(gate.Wait(Guard.Limit, CancellationToken.None));
            }

            return new ValueTask<WebSocketAdmission>(WebSocketAdmission.Accept);
        };
        using EventReader monitor = server.ReadEvents(SocketEventTypes.HandshakeFailedNoDetail);
        string endpoint = server.Bind("ws://127.0.0.1:0");
        RawPeer held = await fixture.ConnectAsync(RawWebSocket.TcpOf(endpoint));
        await held.SendAsync(Encoding.ASCII.GetBytes(RawWebSocket.Request));
        CancellationToken token = await entered.Task.Guarded();
        await AskAsync(fixture, endpoint, s_request);
        await server.NextConnectedAsync();
        Assert.False(token.IsCancellationRequested);
        clock.Advance(server.Options.HandshakeInterval);
        Assert.True(token.IsCancellationRequested);
        Assert.Contains("the WebSocket upgrade was not complete within", (await monitor.ReadAsync(Guard.Token).Guarded()).Detail,
            StringComparison.Ordinal);
        Assert.Empty(await held.ReadToEndAsync());
        gate.Set();
    }

    [Fact]
    public async Task The_lists_go_first()
    {
        await using var fixture = new StreamFixture();
        StreamSocket server = fixture.Context.CreateStream();
        int asked = 0;
        server.Options.WebSocket.AllowedPaths.Add("/chat");
        server.Options.WebSocket.Admission = (_, _) =>
        {
            asked++;
            return new ValueTask<WebSocketAdmission>(WebSocketAdmission.Accept);
        };
        string endpoint = server.Bind("ws://127.0.0.1:0");
        RawPeer peer = await fixture.ConnectAsync(RawWebSocket.TcpOf(endpoint));
        await peer.SendAsync(Encoding.ASCII.GetBytes(RawWebSocket.Request));
        Assert.StartsWith("HTTP/1.1 404 ", Encoding.ASCII.GetString(await peer.ReadToEndAsync()), StringComparison.Ordinal);
        await AskAsync(fixture, endpoint, s_request);
        await server.NextConnectedAsync();
        Assert.Equal(1, asked);
    }

    [Fact]
    public async Task Over_wss_the_certificate_may_decide()
    {
        using var own = new Authorities();
        await using var fixture = new ContextFixture();
        RouterSocket router = fixture.Context.CreateRouter();
        router.Options.Tls.Certificate = own.Server;
        router.Options.Tls.CaFile = own.CaFile;
        router.Options.Tls.RequireClientCertificate = true;
        router.Options.WebSocket.Admission = static (request, _) =>
            new(request.RemoteCertificate!.Subject is "CN=alice" ? WebSocketAdmission.Accept
                : WebSocketAdmission.Refuse(reason: "Only Alice"));
        string endpoint = router.Bind("wss://127.0.0.1:0");
        using EventReader monitor = router.ReadEvents(SocketEventTypes.HandshakeFailedNoDetail);
        foreach (string name in new[] { "CN=bob", "CN=alice" })
        {
            DealerSocket dealer = fixture.Context.CreateDealer(new DealerOptions { Linger = TimeSpan.Zero });
            dealer.Options.Tls.Certificate = own.Issue(name, ["localhost"]);
            dealer.Options.Tls.CaFile = own.CaFile;
            dealer.Connect(endpoint);
            await dealer.SendAsync("hello"u8.ToArray(), Guard.Token);
        }

        Assert.Contains("403: Only Alice", (await monitor.ReadAsync(Guard.Token).Guarded()).Detail, StringComparison.Ordinal);
        using Message message = await router.ReceiveAsync(Guard.Token).Guarded();
        Assert.Equal("CN=alice", message.WebSocketRequest!.Value.RemoteCertificate!.Subject);
    }

    [Fact]
    public void A_refusal_has_a_status_of_HTTP_and_a_short_sentence()
    {
        Assert.True(WebSocketAdmission.Accept.IsAccepted);
        Assert.True(default(WebSocketAdmission).IsAccepted);
        Assert.False(WebSocketAdmission.Refuse().IsAccepted);
        Assert.Throws<ArgumentOutOfRangeException>(static () => WebSocketAdmission.Refuse(399));
        Assert.Throws<ArgumentOutOfRangeException>(static () => WebSocketAdmission.Refuse(600));
        Assert.Throws<ArgumentNullException>(static () => WebSocketAdmission.Refuse(403, null!));
        Assert.Throws<ArgumentException>(static () => WebSocketAdmission.Refuse(403, "two\r\nlines"));
        Assert.Throws<ArgumentException>(static () => WebSocketAdmission.Refuse(403, new string('x', 201)));
    }

    private static void AssertIsTheRequest(WebSocketRequest request)
    {
        Assert.Equal(("/chat", "?token=7", "https://shop.example"), (request.Path, request.Query, request.Origin));
        Assert.Equal("a=1, b=\u00fc", request.GetHeader("COOKIE"));
        Assert.Equal("localhost", request.GetHeader("host"));
        Assert.Null(request.GetHeader("X-Forwarded-For"));
        Assert.Equal("/chat", request.ToString()); // The query may be a secret, and this goes into logs.
    }

    /// <summary>Comes in.</summary>
    private static async Task AskAsync(ContextFixture fixture, string endpoint, string request)
    {
        var socket = fixture.Own(new RawWebSocket(await RawPeer.ConnectAsync(RawWebSocket.TcpOf(endpoint))));
        await socket.Peer.SendAsync(Encoding.Latin1.GetBytes(request));
        Assert.StartsWith("HTTP/1.1 101 ", await socket.ReadHeadAsync(), StringComparison.Ordinal);
    }
}
