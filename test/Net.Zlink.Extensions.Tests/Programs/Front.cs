using System.Net;
using System.Net.WebSockets;
using System.Text;
using Microsoft.AspNetCore.Builder;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Extensions.Tests;

/// <summary>What program (f) does: the service behind it, and the answers that a caller of it gets.</summary>
internal static class Front
{
    public static async ValueTask<Quote> PriceAsync(Ask ask, CancellationToken cancellation)
    {
        await Task.Delay(ask.Currency is "SLOW" ? Guard.Limit : TimeSpan.Zero, cancellation);
        return new Quote(ask.Currency, 1.2m);
    }

    public static async Task CheckAsync(WebApplication app, Func<ValueTask> endService)
    {
        await using (app)
        {
            await app.StartAsync(Guard.Token).Guarded();
            using var http = new HttpClient { BaseAddress = new Uri(app.Urls.Single()) };
            await UntilAsync(http, HttpStatusCode.OK); // The service may not have begun.
            Assert.Equal("1.2", await http.GetStringAsync("/quote/EUR", Guard.Token).Guarded());
            Assert.Equal("Healthy", await http.GetStringAsync("/health", Guard.Token).Guarded());
            using var browser = new ClientWebSocket();
            await browser.ConnectAsync(new UriBuilder(http.BaseAddress) { Scheme = "ws", Path = "/feed/EUR" }.Uri, Guard.Token).Guarded();
            byte[] buffer = new byte[100];
            WebSocketReceiveResult received = await browser.ReceiveAsync(buffer, Guard.Token).Guarded();
            Assert.Equal("1.2", Encoding.UTF8.GetString(buffer, 0, received.Count));
            browser.Abort();
            Assert.Equal(HttpStatusCode.GatewayTimeout, await StatusAsync(http, "SLOW"));
            await endService();
            await UntilAsync(http, HttpStatusCode.ServiceUnavailable);
            await app.StopAsync(Guard.Token).Guarded();
        }
    }

    // Asks until the answer is that one; the token ends a test that waits in vain.
    private static async Task UntilAsync(HttpClient http, HttpStatusCode status)
    {
        while (await StatusAsync(http, "EUR") != status)
        {
            await Task.Delay(1, Guard.Token);
        }
    }

    private static async Task<HttpStatusCode> StatusAsync(HttpClient http, string currency)
    {
        using HttpResponseMessage answer = await http.GetAsync($"/quote/{currency}", Guard.Token);
        return answer.StatusCode;
    }
}
