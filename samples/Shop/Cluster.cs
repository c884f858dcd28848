using System.Globalization;
using Net.Zlink.Extensions.Hosting;
using Net.Zlink.Services;

namespace Samples.Shop;

/// <summary>All hosts of the shop. Each has a context of its own, as it would in a process of its own.</summary>
internal sealed class Cluster : IAsyncDisposable
{
    public const int StockCount = 3;

    private const string AnyPort = "tcp://127.0.0.1:*";

    private readonly List<IHost> _hosts = [];
    private readonly List<IHost> _stocks = [];
    private WebApplication? _front;

    private Cluster()
    {
    }

    public string Address => _front!.Urls.First();

    public static async Task<Cluster> StartAsync(string url, bool isQuiet, CancellationToken cancellation)
    {
        var cluster = new Cluster();
        try
        {
            IHost first = await cluster.StartHostAsync(
                static builder => builder.Services.AddZlinkRegistry(AnyPort, AnyPort), isQuiet, cancellation);
            // In a deployment its endpoints are configuration.
            ServiceRegistry registry = first.Services.GetRequiredService<ServiceRegistry>();
            for (int number = 1; number <= StockCount; number++)
            {
                var name = new StockName(string.Create(CultureInfo.InvariantCulture, $"stock {number}"));
                cluster._stocks.Add(await cluster.StartHostAsync(
                    builder => builder.Services.AddSingleton(name).AddZlinkJson(ShopJson.Default)
                        .AddZlinkReceiver<StockHandler, Order, Receipt>(StockHandler.Service, AnyPort)
                        .UseRegistries(registry.RouterEndpoint),
                    isQuiet, cancellation));
            }

            await cluster.StartHostAsync(
                builder => builder.Services.AddHostedService<PriceSource>()
                    .AddZlinkSpotNode(Items.Node, AnyPort, node => node.UseRegistries(registry.RouterEndpoint)),
                isQuiet, cancellation);
            cluster._front = FrontHost.Build(url, registry.PublisherEndpoint, isQuiet);
            cluster._hosts.Add(cluster._front);
            await cluster._front.StartAsync(cancellation);
            return cluster;
        }
        catch
        {
            await cluster.DisposeAsync();
            throw;
        }
    }

    /// <summary>Stops one stock, as a new version of it would.</summary>
    public async Task StopStockAsync(int index, CancellationToken cancellation)
    {
        IHost host = _stocks[index];
        await host.StopAsync(cancellation);
        _hosts.Remove(host);
        host.Dispose();
    }

    public Task WaitForShutdownAsync(CancellationToken cancellation) => _front!.WaitForShutdownAsync(cancellation);

    /// <summary>Stops the hosts in the reverse order of their start: nobody is asked for what has ended.</summary>
    public async ValueTask DisposeAsync()
    {
        foreach (IHost host in Enumerable.Reverse(_hosts))
        {
            await host.StopAsync();
            host.Dispose();
        }
    }

    public static void Quieten(ILoggingBuilder logging, bool isQuiet) =>
        logging.SetMinimumLevel(isQuiet ? LogLevel.Error : LogLevel.Information)
            .AddFilter("Microsoft", LogLevel.Error).AddFilter("Net.Zlink", isQuiet ? LogLevel.Error : LogLevel.Warning);

    private async Task<IHost> StartHostAsync(Action<HostApplicationBuilder> configure, bool isQuiet, CancellationToken cancellation)
    {
        HostApplicationBuilder builder = Host.CreateApplicationBuilder();
        Quieten(builder.Logging, isQuiet);
        builder.Services.AddZlink(builder.Configuration.GetSection("Zlink"));
        configure(builder);
        IHost host = builder.Build();
        _hosts.Add(host);
        await host.StartAsync(cancellation);
        return host;
    }
}
