using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.Extensions.DependencyInjection;
using Net.Zlink;
using Xunit;

namespace ZlinkApp1.Tests;

public sealed class FeedTests
{
    [Fact]
    public async Task A_subscriber_gets_the_newest_price_and_a_page_its_module()
    {
        CancellationToken cancellation = TestContext.Current.CancellationToken;
        WebApplicationBuilder builder = WebApplication.CreateBuilder();
        builder.WebHost.UseUrls("http://127.0.0.1:0"); // Any free port.
        builder.AddFeed();
        await using WebApplication app = builder.Build();
        app.MapFeed();
        await app.StartAsync(cancellation);

        await using var context = new ZlinkContext();
        SubSocket page = context.CreateSub();
        page.Subscribe("price.EUR");
        page.Connect($"{app.Urls.Single().Replace("http", "ws")}/prices");
        using Message price = await page.ReceiveAsync(cancellation);
        Assert.Equal("price.EUR", price.GetString());
        Assert.StartsWith("1.1", price.GetString(1));

        using var http = new HttpClient();
        Assert.Contains("export class Sub", await http.GetStringAsync($"{app.Urls.Single()}/zlink.js", cancellation));
        await app.StopAsync(cancellation);
    }
}
