using System.Globalization;
using System.Text;
using Net.Zlink;
using Net.Zlink.AspNetCore;
using Net.Zlink.Extensions.Hosting;

namespace ZlinkApp1;

internal static class Feed
{
    public static void AddFeed(this IHostApplicationBuilder builder)
    {
        builder.Services.AddZlink(builder.Configuration.GetSection("Zlink")).AddHealthCheck();
        builder.Services.AddSingleton(static services => new LastValuePublisher(services.GetRequiredService<ZlinkContext>()));
        builder.Services.AddHostedService<Prices>();
    }

    public static void MapFeed(this WebApplication app)
    {
        app.MapZlinkScript("/zlink.js");
        app.MapZlink("/prices", app.Services.GetRequiredService<LastValuePublisher>().Socket);
    }
}

/// <summary>Publishes prices. A page that comes late gets the newest one of each currency first.</summary>
internal sealed class Prices(LastValuePublisher prices) : BackgroundService
{
    protected override async Task ExecuteAsync(CancellationToken stoppingToken)
    {
        using var timer = new PeriodicTimer(TimeSpan.FromMilliseconds(500));
        do
        {
            foreach ((string currency, double price) in ((string, double)[])[("EUR", 1.17), ("GBP", 1.34), ("CHF", 1.25)])
            {
                double moved = price + (Random.Shared.NextDouble() / 100);
                prices.Publish($"price.{currency}", Encoding.UTF8.GetBytes(moved.ToString("F4", CultureInfo.InvariantCulture)));
            }
        }
        while (await timer.WaitForNextTickAsync(stoppingToken));
    }
}
