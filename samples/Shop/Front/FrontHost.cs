using System.Reflection;
using Microsoft.AspNetCore.Http.HttpResults;
using Net.Zlink.Extensions.Hosting;
using Net.Zlink.Services;

namespace Samples.Shop;

/// <summary>The web front: a page, orders over a gateway, live prices, figures, health and traces.</summary>
internal static class FrontHost
{
    public static WebApplication Build(string url, string registryPublisher, bool isQuiet)
    {
        WebApplicationBuilder builder = WebApplication.CreateSlimBuilder();
        builder.WebHost.UseUrls(url);
        Cluster.Quieten(builder.Logging, isQuiet);
        builder.Services.ConfigureHttpJsonOptions(static options =>
            options.SerializerOptions.TypeInfoResolverChain.Insert(0, ShopJson.Default));
        builder.Services.AddZlink(builder.Configuration.GetSection("Zlink"));
        builder.Services.AddZlinkJson(ShopJson.Default);
        builder.Services.AddZlinkGateway(gateway => gateway.FollowRegistries(registryPublisher));
        builder.Services.AddZlinkClient(StockHandler.Service)
            .AddHealthCheck(static thresholds => thresholds.ReadyReceivers = new HealthThreshold(Cluster.StockCount, 1));
        builder.Services.AddZlinkSpotNode(Items.Node, configure: node => node.FollowRegistries(registryPublisher));
        builder.Services.AddSingleton<Tracing>().AddSingleton<OrderCounters>().AddSingleton<OrderClient>().AddSingleton<FigureReader>();
        builder.Services.AddSingleton<PriceFollower>().AddHostedService(static services => services.GetRequiredService<PriceFollower>());
        builder.Services.AddHostedService<Customers>();
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
}
