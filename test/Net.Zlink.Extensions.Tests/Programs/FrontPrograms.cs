using System.Net.WebSockets;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.DependencyInjection;
using Net.Zlink.Extensions.Hosting;
using Net.Zlink.Services;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Extensions.Tests;

/// <summary>Program (f) of the comparison in docs/comparison.md. Its lines are those between the marks.</summary>
public sealed class FrontPrograms
{
    [Fact]
    public async Task Program_f_answers_HTTP_and_WebSocket_from_a_service_and_says_when_it_is_slow_or_gone()
    {
        // begin f
        await using var backend = new ZlinkContext();
        await using var quotes = new RequestServer(backend, "tcp://127.0.0.1:*", new JsonMessageSerializer());
        _ = quotes.ServeAsync<Ask, Quote>(Front.PriceAsync, cancellationToken: Guard.Token);
        await using var prices = new LastValuePublisher(backend, "tcp://127.0.0.1:*");
        prices.Publish("EUR", "1.2"u8);
        WebApplicationBuilder builder = WebApplication.CreateSlimBuilder();
        builder.WebHost.UseUrls("http://127.0.0.1:0");
        builder.Services.AddZlinkJson().AddZlinkClient("quotes", quotes.Endpoint).AddHealthCheck();
        WebApplication app = builder.Build();
        app.UseWebSockets();
        app.MapHealthChecks("/health");
        app.MapGet("/quote/{currency}", async (string currency, [FromKeyedServices("quotes")] RequestClient client) =>
        {
            try
            {
                return Results.Ok((await client.RequestAsync<Ask, Quote>(new Ask(currency), TimeSpan.FromSeconds(2))).Price);
            }
            catch (TimeoutException)
            {
                return Results.StatusCode(504);
            }
            catch (ServiceException)
            {
                return Results.StatusCode(503);
            }
        });
        app.Map("/feed/{currency}", async (string currency, HttpContext http, ZlinkContext context) =>
        {
            using WebSocket browser = await http.WebSockets.AcceptWebSocketAsync();
            using SubSocket feed = context.CreateSub().ConnectedTo(prices.Socket.LastEndpoint);
            await foreach (byte[] price in feed.SubscribeAsync(currency, static m => m[1].ToArray(), http.RequestAborted))
            {
                await browser.SendAsync(price, WebSocketMessageType.Text, true, http.RequestAborted);
            }
        });
        // end f

        await Front.CheckAsync(app, quotes.DisposeAsync);
    }
}
