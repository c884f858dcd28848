using System.Net.WebSockets;
using System.Text;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Net.Zlink.Extensions.Hosting;
using Net.Zlink.Extensions.OpenTelemetry;
using Net.Zlink.Services;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Extensions.Tests;

/// <summary>Programs (d), (e), (f) and (i) of the comparison in docs/hosting.md. Its lines are those between the marks.</summary>
public sealed class HostPrograms
{
    [Fact]
    public async Task Program_d_is_a_chat_over_WebSocket()
    {
        await using var host = new HostFixture();

        // begin d
        host.Services.AddZlinkStream("ws://127.0.0.1:*/chat", static stream => stream.UseHandler<ChatRoom>(), "chat");
        // end d

        await host.StartAsync();
        await using var context = new ZlinkContext();
        using StreamSocket client = context.CreateStream();
        uint peer = await client.ConnectAsync(host.Get<StreamSocket>("chat").LastEndpoint, Guard.Token).Guarded();
        await client.To(peer).SendAsync("hello"u8.ToArray(), Guard.Token).Guarded();
        while (true)
        {
            using StreamMessage message = await client.ReceiveAsync(Guard.Token).Guarded();
            if (message.Kind == StreamMessageKind.Data)
            {
                Assert.Equal("hello", Encoding.UTF8.GetString(message.Span));
                break;
            }
        }
    }

    [Fact]
    public async Task Program_e_is_a_host_with_options_health_telemetry_and_a_graceful_stop()
    {
        string[] args = ["--Zlink:Sockets:jobs:Bind=tcp://127.0.0.1:*", "--Logging:LogLevel:Default=None"];

        // begin e
        HostApplicationBuilder builder = Host.CreateApplicationBuilder(args);
        builder.Services.AddZlink(builder.Configuration.GetSection("Zlink")).AddHealthCheck();
        builder.Services.AddZlinkRouter("jobs", "tcp://*:5555").AddHealthCheck();
        builder.Services.AddHostedService<Worker>();
        builder.Services.AddOpenTelemetry()
            .WithTracing(static tracing => tracing.AddZlinkInstrumentation())
            .WithMetrics(static metrics => metrics.AddZlinkInstrumentation());
        IHost host = builder.Build();
        // end e

        await host.StartAsync(Guard.Token).Guarded();
        await using var context = new ZlinkContext();
        using DealerSocket dealer = context.CreateDealer();
        dealer.Connect(host.Services.GetRequiredKeyedService<RouterSocket>("jobs").LastEndpoint);
        await dealer.SendAsync("job", Guard.Token).Guarded();
        using Message reply = await dealer.ReceiveAsync(Guard.Token).Guarded();
        Assert.Equal("job", reply.GetString());
        await host.StopAsync(Guard.Token).Guarded();
        await ((IAsyncDisposable)host).DisposeAsync();
    }

    [Fact]
    public async Task Program_f_is_a_gateway_from_HTTP_and_WebSocket()
    {
        await using var backend = new ZlinkContext();
        await using var quotes = new RequestServer(backend, "tcp://127.0.0.1:*", Serializers.Json);
        _ = quotes.ServeAsync<Ask, Quote>(
            static (ask, _) => ValueTask.FromResult(new Quote(ask.Currency, 1.2m)), cancellationToken: Guard.Token);
        await using var prices = new LastValuePublisher(backend);
        string feed = prices.Bind("tcp://127.0.0.1:*");
        prices.Publish("EUR", "1.2"u8);

        // begin f
        WebApplicationBuilder builder = WebApplication.CreateSlimBuilder();
        builder.WebHost.UseUrls("http://127.0.0.1:0");
        builder.Services.AddZlinkJson(Contracts.Default).AddZlinkClient("quotes", quotes.Endpoint).AddHealthCheck();
        WebApplication app = builder.Build();
        app.UseWebSockets();
        app.MapHealthChecks("/health");
        app.MapGet("/quote/{currency}", async (string currency, [FromKeyedServices("quotes")] RequestClient client,
            CancellationToken end) => (await client.RequestAsync<Ask, Quote>(new Ask(currency), TimeSpan.FromSeconds(5), end)).Price);
        app.Map("/feed/{currency}", async (string currency, HttpContext http, ZlinkContext context) =>
        {
            using WebSocket browser = await http.WebSockets.AcceptWebSocketAsync();
            using SubSocket subscriber = context.CreateSub(new SubOptions { Conflate = true });
            subscriber.Subscribe(currency);
            subscriber.Connect(feed);
            await foreach (Message price in subscriber.ReceiveAllAsync(http.RequestAborted))
            {
                using (price)
                {
                    await browser.SendAsync(price[price.PartCount - 1], WebSocketMessageType.Text, true, http.RequestAborted);
                }
            }
        });
        // end f

        await using (app)
        {
            await app.StartAsync(Guard.Token).Guarded();
            using var http = new HttpClient { BaseAddress = new Uri(app.Urls.Single()) };
            Assert.Equal("1.2", await http.GetStringAsync("/quote/EUR", Guard.Token).Guarded());
            using var browser = new ClientWebSocket();
            await browser.ConnectAsync(new UriBuilder(http.BaseAddress) { Scheme = "ws", Path = "/feed/EUR" }.Uri, Guard.Token).Guarded();
            byte[] buffer = new byte[100];
            WebSocketReceiveResult received = await browser.ReceiveAsync(buffer, Guard.Token).Guarded();
            Assert.Equal("1.2", Encoding.UTF8.GetString(buffer, 0, received.Count));
            browser.Abort();
            await app.StopAsync(Guard.Token).Guarded();
        }
    }

    [Fact]
    public async Task Program_i_tests_a_handler_without_a_network()
    {
        // begin i
        IRequestHandler<Ask, Quote> handler = new Fixed();
        Assert.Equal(new Quote("EUR", 2), await handler.HandleAsync(new Ask("EUR"), Guard.Token));
        using var message = Message.Create("EUR");
        Assert.Equal("EUR", message.GetString());
        // end i
    }

    private sealed class Fixed : IRequestHandler<Ask, Quote>
    {
        public ValueTask<Quote> HandleAsync(Ask request, CancellationToken cancellationToken) =>
            ValueTask.FromResult(new Quote(request.Currency, 2));
    }

    // begin d
    public sealed class ChatRoom([FromKeyedServices("chat")] StreamSocket socket) : StreamHandler
    {
        public override ValueTask OnReceivedAsync(StreamPeer peer, StreamFrames frames)
        {
            uint[] everybody = [.. socket.GetPeers().Select(static one => one.Id)];
            foreach (ReadOnlyMemory<byte> line in frames)
            {
                socket.Broadcast(everybody, line.Span);
            }

            return ValueTask.CompletedTask;
        }
    }
    // end d

    // begin e
    public sealed class Worker([FromKeyedServices("jobs")] RouterSocket jobs) : BackgroundService
    {
        protected override async Task ExecuteAsync(CancellationToken stoppingToken)
        {
            await foreach (Message job in jobs.ReceiveAllAsync(stoppingToken))
            {
                using (job)
                {
                    await jobs.To(job.RoutingId).SendAsync(job.Memory, CancellationToken.None);
                }
            }
        }
    }
    // end e
}
