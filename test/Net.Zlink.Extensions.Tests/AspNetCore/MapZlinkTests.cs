using System.Net;
using System.Net.WebSockets;
using System.Security.Claims;
using System.Threading.RateLimiting;
using Microsoft.AspNetCore.Authentication;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.HttpOverrides;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;
using Net.Zlink.AspNetCore;
using Net.Zlink.Monitoring;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Extensions.Tests.AspNetCore;

/// <summary>Sockets of any type are endpoints of a web application, behind what protects its other endpoints.</summary>
public sealed class MapZlinkTests
{
    // HELLO and READY of a SUB, and a subscription to everything.
    private static readonly byte[] Greeting =
        [0x5A, 1, 2, 0, 0, 0, 0, 3, 1, 2, 0, 0x5A, 1, 2, 0, 0, 0, 0, 1, 4, 0x5A, 1, 8, 0, 0, 0, 0, 0];

    [Theory]
    [InlineData("PAIR", "PAIR")]
    [InlineData("ROUTER", "DEALER")]
    [InlineData("PUB", "SUB")]
    [InlineData("SUB", "PUB")]
    [InlineData("XPUB", "XSUB")]
    public async Task A_socket_of_a_web_application_exchanges_messages_with_one_that_connects_over_ws(string server, string client)
    {
        await using var web = new WebFixture();
        ZmpSocket here = Create(web.Context, server);
        await web.StartAsync(app => app.MapZlink("/sockets", here));
        ZmpSocket there = Create(web.Context, client);
        there.Connect($"{web.Address}/sockets");
        await ConverseAsync(here, there);
        PeerInfo peer = Assert.Single(here.GetPeers());
        Assert.Equal("pipe://sockets", peer.Endpoint);
        Assert.StartsWith("127.0.0.1:", peer.RemoteAddress, StringComparison.Ordinal);
        there.Dispose();
        await Guard.UntilAsync(() => here.PeerCount == 0, "the peer is gone");
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_browser_speaks_to_a_STREAM_by_messages_that_are_frames(bool isHttp2)
    {
        await using var web = new WebFixture();
        StreamSocket stream = web.Context.CreateStream();
        await web.StartAsync(
            app => app.MapZlink("/echo", stream, new EchoHandler(), static options => options.OneFramePerMessage = true),
            protocols: isHttp2 ? HttpProtocols.Http2 : HttpProtocols.Http1);
        using ClientWebSocket client = await web.ConnectAsync("/echo", options => SetVersion(options, isHttp2));
        foreach (int length in (int[])[5, 0, 1_020, 1_021, 200_000, 1])
        {
            byte[] payload = [.. Enumerable.Range(0, length).Select(static i => (byte)i)];
            await client.SendAsync(payload.AsMemory(0, length / 2), WebSocketMessageType.Binary, endOfMessage: false, Guard.Token);
            await client.SendAsync(payload.AsMemory(length / 2), WebSocketMessageType.Binary, endOfMessage: true, Guard.Token);
            Assert.Equal(payload, await ReceiveAsync(client));
        }

        await client.SendAsync("text"u8.ToArray(), WebSocketMessageType.Text, endOfMessage: true, Guard.Token);
        Assert.Equal("text"u8.ToArray(), await ReceiveAsync(client));
        await client.CloseAsync(WebSocketCloseStatus.NormalClosure, "bye", Guard.Token).Guarded();
        Assert.Equal(WebSocketCloseStatus.NormalClosure, client.CloseStatus);
        await Guard.UntilAsync(() => stream.PeerCount == 0, "the peer is gone");
    }

    [Fact]
    public async Task A_STREAM_without_that_option_takes_frames_with_their_lengths_as_on_every_transport()
    {
        await using var web = new WebFixture();
        StreamSocket stream = web.Context.CreateStream();
        await web.StartAsync(app => app.MapZlink("/echo", stream, new EchoHandler()));
        StreamSocket client = web.Context.CreateStream();
        uint id = await client.ConnectAsync($"{web.Address}/echo", Guard.Token).Guarded();
        byte[] payload = new byte[300_000];
        await client.To(id).SendAsync(payload, Guard.Token).Guarded();
        StreamMessageKind kind;
        do
        {
            using StreamMessage received = await client.ReceiveAsync(Guard.Token).Guarded();
            kind = received.Kind;
            Assert.True(kind == StreamMessageKind.Connected || received.Payload.Span.SequenceEqual(payload));
        }
        while (kind == StreamMessageKind.Connected);
    }

    [Fact]
    public async Task A_message_over_the_limit_ends_its_connection_with_1009_and_no_other_one()
    {
        await using var web = new WebFixture();
        StreamSocket stream = web.Context.CreateStream(new StreamOptions { MaxMessageSize = 100 });
        await web.StartAsync(app => app.MapZlink("/echo", stream, new EchoHandler(), static options => options.OneFramePerMessage = true));
        using ClientWebSocket large = await web.ConnectAsync("/echo");
        using ClientWebSocket other = await web.ConnectAsync("/echo");
        await large.SendAsync(new byte[101], WebSocketMessageType.Binary, endOfMessage: false, Guard.Token);
        Assert.Equal(WebSocketCloseStatus.MessageTooBig, await ReadCloseAsync(large));
        await other.SendAsync(new byte[100], WebSocketMessageType.Binary, endOfMessage: true, Guard.Token);
        Assert.Equal(new byte[100], await ReceiveAsync(other));
    }

    [Fact]
    public async Task Bytes_that_are_no_ZMP_end_their_connection_and_a_peer_that_vanishes_is_gone()
    {
        await using var web = new WebFixture();
        RouterSocket router = web.Context.CreateRouter();
        await web.StartAsync(app => app.MapZlink("/jobs", router));
        await using IAsyncEnumerator<SocketEvent> events = router
            .MonitorAsync(SocketEventTypes.Accepted | SocketEventTypes.Disconnected, Guard.Token).GetAsyncEnumerator(Guard.Token);
        using ClientWebSocket stranger = await web.ConnectAsync("/jobs");
        await stranger.SendAsync("GET / HTTP/1.1"u8.ToArray(), WebSocketMessageType.Binary, endOfMessage: true, Guard.Token);
        _ = await ReadCloseAsync(stranger);
        Assert.Equal(SocketEventTypes.Accepted, await NextAsync(events));
        Assert.Equal(SocketEventTypes.Disconnected, await NextAsync(events));
        using ClientWebSocket vanishing = await web.ConnectAsync("/jobs");
        Assert.Equal(SocketEventTypes.Accepted, await NextAsync(events));
        vanishing.Abort();
        Assert.Equal(SocketEventTypes.Disconnected, await NextAsync(events));
    }

    [Fact]
    public async Task A_peer_knows_its_user_its_sub_protocol_its_route_and_chosen_headers()
    {
        await using var web = new WebFixture();
        RouterSocket router = web.Context.CreateRouter();
        router.Options.WebSocket.SubProtocols.Add("jobs.v2");
        await web.StartAsync(
            app =>
            {
                app.UseAuthentication();
                app.UseAuthorization();
                app.MapZlink("/jobs/{team}", router, static options => options.Headers.Add("X-Client")).RequireAuthorization();
            },
            Users.Add);
        await Assert.ThrowsAsync<WebSocketException>(() => web.ConnectAsync("/jobs/red"));
        DealerSocket dealer = web.Context.CreateDealer();
        dealer.Options.WebSocket.RequestFields["X-User"] = "ada";
        dealer.Options.WebSocket.RequestFields["X-Client"] = "test/1";
        foreach (string name in (string[])["jobs.v3", "jobs.v2"])
        {
            dealer.Options.WebSocket.SubProtocols.Add(name);
        }

        dealer.Connect($"{web.Address}/jobs/red");
        await dealer.SendAsync("hello", Guard.Token).Guarded();
        using Message hello = await router.ReceiveAsync(Guard.Token).Guarded();
        PeerDetails peer = hello.PeerDetails!;
        Assert.Equal(("ada", "jobs.v2", "jobs/{team}"), (peer.User?.Identity?.Name, peer.SubProtocol, peer.Name));
        Assert.Equal(("red", "test/1"), (peer.Headers["team"], peer.Headers["x-client"]));
        Assert.Equal("jobs.v2", Assert.Single(dealer.GetPeers()).SubProtocol);
    }

    [Theory]
    [InlineData(null, true)]
    [InlineData("http://HOST", true)]
    [InlineData("https://HOST", true)]
    [InlineData("http://evil.example", false)]
    [InlineData("null", false)]
    [InlineData("https://cors.example", true)]
    [InlineData("https://listed.example", true)]
    public async Task A_page_of_another_origin_may_connect_only_where_the_server_allows_it(string? origin, bool isAllowed)
    {
        await using var web = new WebFixture();
        PubSocket pub = web.Context.CreatePub();
        pub.Options.WebSocket.AllowedOrigins.Add("https://listed.example");
        await web.StartAsync(
            app =>
            {
                app.UseCors();
                app.MapZlink("/feed", pub).RequireCors("pages");
            },
            static services => services.AddCors(
                static cors => cors.AddPolicy("pages", static one => one.WithOrigins("https://cors.example"))));
        Task<ClientWebSocket> connecting = web.ConnectAsync("/feed", options => options.SetRequestHeader(
            "Origin", origin?.Replace("HOST", new Uri(web.Address).Authority, StringComparison.Ordinal)));
        if (isAllowed)
        {
            (await connecting).Dispose();
        }
        else
        {
            await Assert.ThrowsAsync<WebSocketException>(() => connecting);
        }
    }

    [Fact]
    public async Task Rate_limits_hold_as_long_as_a_connection_and_a_plain_request_is_told_what_the_address_is_for()
    {
        await using var web = new WebFixture();
        PubSocket pub = web.Context.CreatePub();
        await web.StartAsync(
            app =>
            {
                app.UseRateLimiter();
                app.MapZlink("/feed", pub).RequireRateLimiting("one");
            },
            static services => services.AddRateLimiter(static limits => limits.AddPolicy("one", static _ =>
                RateLimitPartition.GetConcurrencyLimiter("", static _ => new ConcurrencyLimiterOptions { PermitLimit = 1 }))));
        using var http = new HttpClient();
        using HttpResponseMessage plain = await http.GetAsync($"{web.App.Urls.Single()}/feed", Guard.Token).Guarded();
        Assert.Equal(HttpStatusCode.UpgradeRequired, plain.StatusCode);
        using ClientWebSocket first = await web.ConnectAsync("/feed");
        await Assert.ThrowsAsync<WebSocketException>(() => web.ConnectAsync("/feed"));
    }

    [Fact]
    public async Task A_peer_that_the_socket_has_no_place_for_is_told_so_and_a_closed_socket_too()
    {
        await using var web = new WebFixture();
        StreamSocket stream = web.Context.CreateStream(new StreamOptions { MaxConnections = 1 });
        await web.StartAsync(app => app.MapZlink("/chat", stream));
        using ClientWebSocket first = await web.ConnectAsync("/chat");
        await Guard.UntilAsync(() => stream.PeerCount == 1, "the first peer is there");
        using ClientWebSocket second = await web.ConnectAsync("/chat");
        Assert.Equal(WebSocketCloseStatus.PolicyViolation, await ReadCloseAsync(second));
        stream.Dispose();
        Assert.Equal(WebSocketCloseStatus.NormalClosure, await ReadCloseAsync(first));
        using ClientWebSocket third = await web.ConnectAsync("/chat");
        Assert.Equal(WebSocketCloseStatus.EndpointUnavailable, await ReadCloseAsync(third));
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task The_stop_of_the_host_ends_connections_behind_what_was_sent(bool isHttp2)
    {
        await using var web = new WebFixture();
        StreamSocket stream = web.Context.CreateStream();
        await web.StartAsync(
            app => app.MapZlink("/chat", stream, static options => options.OneFramePerMessage = true),
            protocols: isHttp2 ? HttpProtocols.Http2 : HttpProtocols.Http1);
        using ClientWebSocket client = await web.ConnectAsync("/chat", options => SetVersion(options, isHttp2));
        await Guard.UntilAsync(() => stream.PeerCount == 1, "the peer is there");
        byte[] payload = new byte[100_000];
        for (int i = 0; i < 50; i++)
        {
            await stream.To(stream.GetPeers()[0].Id).SendAsync(payload, Guard.Token).Guarded();
        }

        Task stopped = web.App.StopAsync(Guard.Token);
        for (int i = 0; i < 50; i++)
        {
            Assert.Equal(payload.Length, (await ReceiveAsync(client)).Length);
        }

        Assert.Equal(WebSocketCloseStatus.EndpointUnavailable, await ReadCloseAsync(client));
        await stopped.Guarded();
        Assert.Equal(0, stream.PeerCount);
    }

    [Fact]
    public async Task Behind_a_proxy_a_peer_has_the_address_of_its_client_and_pages_of_the_proxys_host_may_connect()
    {
        await using var web = new WebFixture();
        PairSocket pair = web.Context.CreatePair();
        await web.StartAsync(app =>
        {
            app.UseForwardedHeaders(new ForwardedHeadersOptions { ForwardedHeaders = ForwardedHeaders.All });
            app.MapZlink("/pair", pair);
        });
        PairSocket client = web.Context.CreatePair();
        IDictionary<string, string> fields = client.Options.WebSocket.RequestFields;
        fields["X-Forwarded-For"] = "203.0.113.7";
        fields["X-Forwarded-Host"] = "shop.example:443";
        fields["X-Forwarded-Proto"] = "https";
        fields["Origin"] = "https://shop.example";
        client.Connect($"{web.Address}/pair");
        await client.SendAsync("hello", Guard.Token).Guarded();
        using Message hello = await pair.ReceiveAsync(Guard.Token).Guarded();
        Assert.StartsWith("203.0.113.7", hello.PeerDetails!.RemoteAddress, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_client_that_says_nothing_is_gone_after_HandshakeInterval_and_one_without_heartbeats_too(bool isReady)
    {
        await using var web = new WebFixture();
        XPubSocket feed = web.Context.CreateXPub(new XPubOptions
        {
            HandshakeInterval = isReady ? Guard.Limit : TimeSpan.FromMilliseconds(50),
            HeartbeatInterval = TimeSpan.FromMilliseconds(20),
            HeartbeatTimeout = TimeSpan.FromMilliseconds(100),
        });
        await web.StartAsync(app => app.MapZlink("/feed", feed));
        using ClientWebSocket silent = await web.ConnectAsync("/feed");
        if (isReady)
        {
            await silent.SendAsync(Greeting, WebSocketMessageType.Binary, endOfMessage: true, Guard.Token);
        }

        Assert.Equal(WebSocketCloseStatus.NormalClosure, await ReadCloseAsync(silent));
        Assert.Equal(0, feed.PeerCount);
    }

    [Fact]
    public async Task Pages_that_are_opened_and_reloaded_by_the_hundred_leave_nothing_behind()
    {
        int pages = SlowTests.Rounds(100, 1000);
        await using var web = new WebFixture();
        using var feed = new LastValuePublisher(web.Context);
        feed.Publish("price", "1.17"u8);
        await web.StartAsync(app => app.MapZlink("/feed", feed.Socket));
        for (int round = 0; round < 3; round++)
        {
            ClientWebSocket[] opened = await Task.WhenAll(Enumerable.Range(0, pages).Select(async at =>
            {
                ClientWebSocket page = await web.ConnectAsync("/feed");
                if (at % 2 == 0)
                {
                    await page.SendAsync(Greeting, WebSocketMessageType.Binary, endOfMessage: true, Guard.Token);
                    byte[] received = [];
                    while (!received.AsSpan().EndsWith("1.17"u8))
                    {
                        received = [.. received, .. await ReceiveAsync(page)];
                    }
                }

                return page;
            }));
            foreach (ClientWebSocket page in opened)
            {
                page.Abort();
                page.Dispose();
            }
        }

        await Guard.UntilAsync(() => feed.Socket.PeerCount == 0, "all pages are gone");
        await Guard.UntilAsync(
            () => web.Context.GetStatistics().Shards.Sum(static shard => shard.Connections) == 0, "all connections are gone");
    }

    [Fact]
    public async Task The_module_for_pages_is_there_and_is_sent_once()
    {
        await using var web = new WebFixture();
        await web.StartAsync(static app => app.MapZlinkScript());
        using var http = new HttpClient();
        using HttpResponseMessage first = await http.GetAsync($"{web.App.Urls.Single()}/zlink.js", Guard.Token).Guarded();
        Assert.Equal("text/javascript", first.Content.Headers.ContentType!.MediaType);
        Assert.Contains("export class Sub", await first.Content.ReadAsStringAsync(Guard.Token), StringComparison.Ordinal);
        http.DefaultRequestHeaders.IfNoneMatch.Add(first.Headers.ETag!);
        using HttpResponseMessage again = await http.GetAsync($"{web.App.Urls.Single()}/zlink.js", Guard.Token).Guarded();
        Assert.Equal(HttpStatusCode.NotModified, again.StatusCode);
    }

    [Fact]
    public async Task A_ZMP_socket_cannot_do_without_its_frames()
    {
        await using var web = new WebFixture();
        PubSocket pub = web.Context.CreatePub();
        await web.StartAsync(app => Assert.Throws<ArgumentException>(
            () => app.MapZlink("/feed", pub, static options => options.OneFramePerMessage = true)));
    }

    private static void SetVersion(ClientWebSocketOptions options, bool isHttp2)
    {
        options.HttpVersion = isHttp2 ? HttpVersion.Version20 : HttpVersion.Version11;
        options.HttpVersionPolicy = HttpVersionPolicy.RequestVersionExact;
    }

    private static ZmpSocket Create(ZlinkContext context, string type) => type switch
    {
        "PAIR" => context.CreatePair(),
        "DEALER" => context.CreateDealer(),
        "ROUTER" => context.CreateRouter(),
        "PUB" => context.CreatePub(),
        "SUB" => context.CreateSub(),
        "XPUB" => context.CreateXPub(),
        _ => context.CreateXSub(),
    };

    private static async Task ConverseAsync(ZmpSocket one, ZmpSocket other)
    {
        (ZmpSocket sender, ZmpSocket receiver) = one is SubSocket ? (one, other) : (other, one);
        switch (sender)
        {
            case SubSocket sub:
                sub.Subscribe("");
                var pub = (PubSocket)receiver;
                await Guard.UntilAsync(() => pub.GetPeers() is [{ MessagesReceived: > 0 }], "the subscription is there");
                pub.Send("news"u8);
                await ExpectAsync(sub, "news");
                break;
            case XSubSocket xsub:
                var xpub = (XPubSocket)receiver;
                await xsub.SendAsync(new byte[] { 1 }, Guard.Token).Guarded();
                await ExpectAsync(xpub, "\u0001");
                xpub.Send("news"u8);
                await ExpectAsync(xsub, "news");
                break;
            case DealerSocket dealer:
                var router = (RouterSocket)receiver;
                await dealer.SendAsync("question", Guard.Token).Guarded();
                using (Message question = await router.ReceiveAsync(Guard.Token).Guarded())
                {
                    await router.To(question.RoutingId).SendAsync("answer", Guard.Token).Guarded();
                }

                await ExpectAsync(dealer, "answer");
                break;
            default:
                await ((PairSocket)sender).SendAsync("hello", Guard.Token).Guarded();
                await ExpectAsync(receiver, "hello");
                break;
        }
    }

    private static async Task<SocketEventTypes> NextAsync(IAsyncEnumerator<SocketEvent> events)
    {
        Assert.True(await events.MoveNextAsync().AsTask().Guarded());
        return events.Current.Type;
    }

    private static async Task ExpectAsync(ZmpSocket socket, string text)
    {
        using Message message = await ((ReceivingSocket)socket).ReceiveAsync(Guard.Token).Guarded();
        Assert.Equal(text, message.GetString());
    }

    private static async Task<byte[]> ReceiveAsync(ClientWebSocket client)
    {
        using var message = new MemoryStream();
        byte[] buffer = new byte[64 * 1024];
        WebSocketReceiveResult part;
        do
        {
            part = await client.ReceiveAsync(buffer, Guard.Token).Guarded();
            Assert.Null(part.CloseStatus);
            message.Write(buffer, 0, part.Count);
        }
        while (!part.EndOfMessage);
        return message.ToArray();
    }

    /// <summary>Behind what else comes.</summary>
    private static async Task<WebSocketCloseStatus?> ReadCloseAsync(ClientWebSocket client)
    {
        byte[] buffer = new byte[1024];
        WebSocketReceiveResult part;
        do
        {
            part = await client.ReceiveAsync(buffer, Guard.Token).Guarded();
        }
        while (part.MessageType != WebSocketMessageType.Close);
        await client.CloseOutputAsync(WebSocketCloseStatus.NormalClosure, null, Guard.Token).Guarded();
        return part.CloseStatus;
    }

    /// <summary>Who a request's X-User is.</summary>
    private sealed class Users(
        IOptionsMonitor<AuthenticationSchemeOptions> options,
        Microsoft.Extensions.Logging.ILoggerFactory logger,
        System.Text.Encodings.Web.UrlEncoder encoder)
        : AuthenticationHandler<AuthenticationSchemeOptions>(options, logger, encoder)
    {
        public static void Add(IServiceCollection services)
        {
            services.AddAuthentication("test").AddScheme<AuthenticationSchemeOptions, Users>("test", static _ => { });
            services.AddAuthorization();
        }

        protected override Task<AuthenticateResult> HandleAuthenticateAsync() => Task.FromResult(
            Request.Headers["X-User"].ToString() is { Length: > 0 } name
                ? AuthenticateResult.Success(new AuthenticationTicket(
                    new ClaimsPrincipal(new ClaimsIdentity([new Claim(ClaimTypes.Name, name)], "test")), "test"))
                : AuthenticateResult.NoResult());
    }
}
