using System.Net.WebSockets;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using NATS.Client.Core;
using NATS.Client.KeyValueStore;
using NATS.Extensions.Microsoft.DependencyInjection;
using NATS.Net;
using Net.Zlink.Discovery.Tests.Nats;
using Net.Zlink.Tests.Support;

namespace Net.Zlink.Extensions.Tests;

/// <summary>Program (f) with NATS.Net: the last column of the comparison in docs/comparison.md.</summary>
public sealed class NatsFrontPrograms
{
    [SlowFact]
    public async Task Program_f_with_NATS_answers_HTTP_and_WebSocket_from_a_service_and_says_when_it_is_slow_or_gone()
    {
        await using NatsServer nats = await NatsServer.StartAsync();
        string url = nats.Url;

        // begin f
        await using var backend = new NatsClient(url);
        await using INatsSub<Ask> quotes = await backend.Connection.SubscribeCoreAsync<Ask>("quotes", cancellationToken: Guard.Token);
        _ = Parallel.ForEachAsync(quotes.Msgs.ReadAllAsync(Guard.Token), Guard.Token, static async (ask, end) =>
            await ask.ReplyAsync(await Front.PriceAsync(ask.Data!, end), cancellationToken: end));
        INatsKVStore prices = await backend.CreateKeyValueStoreContext().CreateStoreAsync("prices", Guard.Token);
        await prices.PutAsync("EUR", "1.2", cancellationToken: Guard.Token);
        WebApplicationBuilder builder = WebApplication.CreateSlimBuilder();
        builder.WebHost.UseUrls("http://127.0.0.1:0");
        builder.Services.AddNatsClient(client => client.ConfigureOptions(options => options.Configure(
            settings => settings.Opts = settings.Opts with { Url = url })));
        builder.Services.AddHealthChecks().AddCheck<NatsCheck>("nats");
        WebApplication app = builder.Build();
        app.UseWebSockets();
        app.MapHealthChecks("/health");
        var limit = new NatsSubOpts { Timeout = TimeSpan.FromSeconds(2) };
        app.MapGet("/quote/{currency}", async (string currency, INatsClient client) =>
        {
            try
            {
                return Results.Ok((await client.RequestAsync<Ask, Quote>("quotes", new Ask(currency), replyOpts: limit)).Data!.Price);
            }
            catch (NatsNoRespondersException)
            {
                return Results.StatusCode(503);
            }
            catch (NatsNoReplyException)
            {
                return Results.StatusCode(504);
            }
        });
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

        await Front.CheckAsync(app, quotes.DisposeAsync);
    }
}

// begin ef
internal sealed class NatsCheck(INatsConnection nats) : IHealthCheck
{
    public async Task<HealthCheckResult> CheckHealthAsync(HealthCheckContext context, CancellationToken cancellationToken = default)
    {
        await nats.PingAsync(cancellationToken);
        return HealthCheckResult.Healthy();
    }
}
// end ef
