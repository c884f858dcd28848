using Net.Zlink;
using Net.Zlink.Services;

namespace Samples.Shop;

/// <summary>Where the registry is. In a deployment this is configuration.</summary>
internal sealed record RegistryEndpoints(string Router, string Publisher);

/// <summary>The registry of the shop, from start to stop of its host.</summary>
internal sealed class RegistryService(ZlinkContext context) : IHostedService
{
    public Registry Registry { get; } = new(context, new RegistryOptions
    {
        RouterEndpoint = "tcp://127.0.0.1:*",
        PublisherEndpoint = "tcp://127.0.0.1:*",
    });

    public Task StartAsync(CancellationToken cancellationToken)
    {
        Registry.Start();
        return Task.CompletedTask;
    }

    public async Task StopAsync(CancellationToken cancellationToken) => await Registry.DisposeAsync();
}
