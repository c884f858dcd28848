using System.Net.WebSockets;
using System.Text;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using Microsoft.Extensions.Hosting;
using NATS.Client.Core;
using NATS.Client.KeyValueStore;
using NATS.Client.OpenTelemetry;
using NATS.Extensions.Microsoft.DependencyInjection;
using NATS.Net;
using Net.Zlink.Discovery.Tests.Nats;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Extensions.Tests;

/// <summary>Programs (e), (f), (h) and (i) with NATS.Net: the last column of the comparison in docs/hosting.md.</summary>
public sealed class NatsHostPrograms
{
    [Fact]
    public async Task Program_e_with_NATS_is_a_host()
    {
        await using NatsServer nats = await NatsServer.StartAsync();
        string[] args = [$"--Nats:Url={nats.Url}", "--Logging:LogLevel:Default=None"];

        // begin e
        HostApplicationBuilder builder = Host.CreateApplicationBuilder(args);
        builder.Services.AddNatsClient(client => client.ConfigureOptions(options => options.Configure(
            settings => settings.Opts = settings.Opts with { Url = builder.Configuration.GetValue<string>("Nats:Url")! })));
        builder.Services.AddHealthChecks().AddCheck<NatsCheck>("nats");
        builder.Services.AddHostedService<Worker>();
        builder.Services.AddOpenTelemetry()
            .WithTracing(static tracing => tracing.AddNatsClientInstrumentation())
            .WithMetrics(static metrics => metrics.AddNatsClientInstrumentation());
        IHost host = builder.Build();
        // end e

        await host.StartAsync(Guard.Token).Guarded();
        await using var client = new NatsClient(nats.Url);
        var patient = new NatsSubOpts { Timeout = Guard.Limit, ThrowIfNoResponders = false };
        NatsMsg<string> reply;
        do
        {
            reply = await client.RequestAsync<string, string>("jobs", "job", replyOpts: patient, cancellationToken: Guard.Token);
        }
        while (reply.HasNoResponders); // The worker has not subscribed yet.

        Assert.Equal("job", reply.Data);
        await host.StopAsync(Guard.Token).Guarded();
        await ((IAsyncDisposable)host).DisposeAsync();
    }

    [Fact]
    public async Task Program_f_with_NATS_is_a_gateway_from_HTTP_and_WebSocket()
    {
        await using NatsServer nats = await NatsServer.StartAsync();
        string url = nats.Url;
        await using var backend = new NatsClient(url);
        await using INatsSub<Ask> asked = await backend.Connection.SubscribeCoreAsync<Ask>("quotes", cancellationToken: Guard.Token);
        INatsKVStore prices = await backend.CreateKeyValueStoreContext().CreateStoreAsync("prices", Guard.Token);
        await prices.PutAsync("EUR", "1.2", cancellationToken: Guard.Token);

        // begin f
        WebApplicationBuilder builder = WebApplication.CreateSlimBuilder();
        builder.WebHost.UseUrls("http://127.0.0.1:0");
        builder.Services.AddNatsClient(client => client.ConfigureOptions(options => options.Configure(
            settings => settings.Opts = settings.Opts with { Url = url })));
        builder.Services.AddHealthChecks().AddCheck<NatsCheck>("nats");
        WebApplication app = builder.Build();
        app.UseWebSockets();
        app.MapHealthChecks("/health");
        var limit = new NatsSubOpts { Timeout = TimeSpan.FromSeconds(5) };
        app.MapGet("/quote/{currency}", async (string currency, INatsClient client, CancellationToken end) =>
            (await client.RequestAsync<Ask, Quote>("quotes", new Ask(currency), replyOpts: limit, cancellationToken: end)).Data!.Price);
        app.Map("/feed/{currency}", async (string currency, HttpContext http, INatsClient client) =>
        {
            using WebSocket browser = await http.WebSockets.AcceptWebSocketAsync();
            INatsKVStore feed = await client.CreateKeyValueStoreContext().GetStoreAsync("prices", http.RequestAborted);
            await foreach (NatsKVEntry<byte[]> price in feed.WatchAsync<byte[]>(currency, cancellationToken: http.RequestAborted))
            {
                await browser.SendAsync(price.Value!, WebSocketMessageType.Text, true, http.RequestAborted);
            }
        });
        // end f

        await using (app)
        {
            await app.StartAsync(Guard.Token).Guarded();
            using var http = new HttpClient { BaseAddress = new Uri(app.Urls.Single()) };
            Task<string> answer = http.GetStringAsync("/quote/EUR", Guard.Token);
            NatsMsg<Ask> ask = await asked.Msgs.ReadAsync(Guard.Token).AsTask().Guarded();
            await ask.ReplyAsync(new Quote(ask.Data!.Currency, 1.2m), cancellationToken: Guard.Token);
            Assert.Equal("1.2", await answer.Guarded());
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
    public async Task Program_i_with_NATS_tests_a_handler_without_a_network()
    {
        // begin i
        Quote quote = await QuoteAsync(new Ask("EUR"), Guard.Token);
        Assert.Equal(new Quote("EUR", 2), quote);
        var message = new NatsMsg<string>("prices", null, 3, null, "EUR", null, NatsMsgFlags.None);
        Assert.Equal("EUR", message.Data);
        // end i
    }

    private static ValueTask<Quote> QuoteAsync(Ask ask, CancellationToken cancellation)
    {
        cancellation.ThrowIfCancellationRequested();
        return ValueTask.FromResult(new Quote(ask.Currency, 2));
    }

    // begin e
    public sealed class Worker(INatsConnection nats) : BackgroundService
    {
        protected override async Task ExecuteAsync(CancellationToken stoppingToken)
        {
            await using INatsSub<byte[]> jobs = await nats.SubscribeCoreAsync<byte[]>("jobs", cancellationToken: CancellationToken.None);
            using CancellationTokenRegistration stop = stoppingToken.Register(() => _ = jobs.DrainAsync(CancellationToken.None).AsTask());
            await foreach (NatsMsg<byte[]> job in jobs.Msgs.ReadAllAsync(CancellationToken.None))
            {
                await job.ReplyAsync(job.Data, cancellationToken: CancellationToken.None);
            }
        }
    }

    public sealed class NatsCheck(INatsConnection nats) : IHealthCheck
    {
        public async Task<HealthCheckResult> CheckHealthAsync(HealthCheckContext context, CancellationToken cancellationToken = default)
        {
            await nats.PingAsync(cancellationToken);
            return HealthCheckResult.Healthy();
        }
    }
    // end e
}
