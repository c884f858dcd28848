using System.Reflection;
using Microsoft.AspNetCore.Http.HttpResults;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using Net.Zlink;
using Net.Zlink.Extensions.Hosting;
using Net.Zlink.Services;

namespace Samples.Shop;

/// <summary>The web front: a page, orders over a gateway, live prices, figures, health and traces.</summary>
internal static class FrontHost
{
    public static WebApplication Build(string url, RegistryEndpoints registry, bool isQuiet)
    {
        WebApplicationBuilder builder = WebApplication.CreateSlimBuilder();
        builder.WebHost.UseUrls(url);
        Cluster.Quieten(builder.Logging, isQuiet);
        builder.Services.ConfigureHttpJsonOptions(static options =>
            options.SerializerOptions.TypeInfoResolverChain.Insert(0, ShopJson.Default));
        builder.Services.AddZlink(builder.Configuration.GetSection("Zlink"));
        builder.Services.AddSingleton(registry).AddSingleton<Tracing>().AddSingleton<OrderCounters>();
        builder.Services.AddSingleton(static services =>
        {
            var discovery = new Discovery(services.GetRequiredService<ZlinkContext>());
            discovery.ConnectRegistry(services.GetRequiredService<RegistryEndpoints>().Publisher);
            return discovery;
        });
        builder.Services.AddSingleton(static services =>
            new Gateway(services.GetRequiredService<ZlinkContext>(), services.GetRequiredService<Discovery>()));
        builder.Services.AddSingleton<OrderClient>().AddSingleton<FigureReader>();
        builder.Services.AddSingleton<PriceFollower>().AddHostedService(static services => services.GetRequiredService<PriceFollower>());
        builder.Services.AddHostedService<Customers>();
        builder.Services.AddHealthChecks().AddCheck<StockHealth>("stocks");
        return Map(builder.Build());
    }

    private static WebApplication Map(WebApplication app)
    {
        string page = ReadPage();
        app.MapGet("/", () => TypedResults.Content(page, "text/html; charset=utf-8"));
        app.MapGet("/figures", static (FigureReader figures, CancellationToken cancellation) => figures.ReadAsync(cancellation));
        app.MapHealthChecks("/health");
        app.MapPost("/orders", static async Task<Results<Ok<Receipt>, ProblemHttpResult>> (
            Order order, OrderClient orders, CancellationToken cancellation) =>
        {
            try
            {
                return TypedResults.Ok(await orders.PlaceAsync(order, cancellation));
            }
            catch (Exception e) when (e is ServiceException or TimeoutException)
            {
                return TypedResults.Problem(e.Message, statusCode: StatusCodes.Status503ServiceUnavailable);
            }
        });
        return app;
    }

    private static string ReadPage()
    {
        using Stream stream = Assembly.GetExecutingAssembly().GetManifestResourceStream("Page.html")!;
        using var reader = new StreamReader(stream);
        return reader.ReadToEnd();
    }

    /// <summary>Red without a stock, yellow while one is missing.</summary>
    private sealed class StockHealth(Gateway gateway) : IHealthCheck
    {
        public Task<HealthCheckResult> CheckHealthAsync(HealthCheckContext context, CancellationToken cancellationToken = default)
        {
            int ready = gateway.GetStatistics().ReadyReceivers;
            string text = $"{ready} of {Cluster.StockCount} stocks are ready";
            return Task.FromResult(ready == 0 ? HealthCheckResult.Unhealthy(text)
                : ready < Cluster.StockCount ? HealthCheckResult.Degraded(text) : HealthCheckResult.Healthy(text));
        }
    }
}
