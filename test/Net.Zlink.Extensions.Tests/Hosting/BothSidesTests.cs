using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Net.Zlink.Extensions.Hosting;
using Net.Zlink.Services;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Extensions.Tests;

/// <summary>Hosts whose parts connect to other parts of the same host.</summary>
public sealed class BothSidesTests
{
    [Fact]
    public async Task A_host_with_both_sides_binds_before_it_connects_so_nothing_is_in_vain()
    {
        string[] at = [.. Enumerable.Range(0, 5).Select(static _ => $"tcp://127.0.0.1:{FreePort.Next()}")];
        await using var host = new HostFixture();
        host.Services.AddHostedService<Eager>(); // In front of the host's own service.
        host.Services.AddZlinkJson(Contracts.Default);
        host.Services.AddZlinkClient("quotes", at[0]);
        host.Services.AddZlinkGateway(gateway => gateway.AddReceiver("quotes", at[0]));
        host.Services.AddZlinkGateway(gateway => gateway.FollowRegistries(at[1]), "registered");
        host.Services.AddZlinkDealer("client", at[3]);
        host.Services.AddZlinkSpotNode("far", configure: node => node.Connect(at[4]));
        host.Services.AddZlinkReceiver<Ask, Quote>("quotes", at[0], static (ask, _) => ValueTask.FromResult(new Quote(ask.Currency, 1)))
            .UseRegistries(at[2]);
        host.Services.AddZlinkRegistry(at[1], at[2]);
        host.Services.AddZlinkRouter("server", at[3]);
        host.Services.AddZlinkSpotNode("near", at[4]);
        host.Services.AddZlink();
        await host.StartAsync();

        ServiceClient[] clients =
        [
            host.Get<RequestClient>("quotes").Service, host.Get<ServiceGateway>().GetClient("quotes"),
            host.Get<ServiceGateway>("registered").GetClient("quotes"),
        ];
        foreach (ServiceClient client in clients)
        {
            await client.WaitUntilReadyAsync(cancellationToken: Guard.Token).Guarded();
        }

        await host.Get<SpotNode>("far").WaitForPeersAsync(1, Guard.Token).Guarded();
        await Guard.UntilAsync(
            () => host.Get<DealerSocket>("client").GetPeers().Any(static peer => peer.IsConnected), "both sockets are connected");
        Assert.DoesNotContain(host.Log, static line => line.Level >= LogLevel.Warning
            && !line.Message.StartsWith("Shard ", StringComparison.Ordinal)); // A busy machine is late.
        await host.StopAsync();
    }

    private sealed class Eager([FromKeyedServices("quotes")] RequestClient client) : IHostedService
    {
        public Task StartAsync(CancellationToken cancellationToken) =>
            client.Service.WaitUntilReadyAsync(cancellationToken: cancellationToken).AsTask();

        public Task StopAsync(CancellationToken cancellationToken) => Task.CompletedTask;
    }
}
