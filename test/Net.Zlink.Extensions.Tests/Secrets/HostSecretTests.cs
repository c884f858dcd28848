using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using Microsoft.Extensions.Logging;
using Net.Zlink.Extensions.Hosting;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Extensions.Tests;

/// <summary>What a host says of endpoints with secrets: at its start, in its health, at its end.</summary>
public sealed class HostSecretTests
{
    [Fact]
    public Task A_host_with_endpoints_that_are_refused_shows_no_secret() => SecretWatch.RunAsync(static async watch =>
    {
        Action<IServiceCollection, string>[] parts =
        [
            static (services, endpoint) => services.AddZlinkRouter("jobs", endpoint),
            static (services, endpoint) => services.AddZlinkDealer("jobs", endpoint),
            static (services, endpoint) => services.AddZlinkStream(endpoint),
            static (services, endpoint) => services.AddZlinkStream(endpoint).AddZlinkStream(endpoint),
            static (services, endpoint) => services.AddZlinkReceiver<Silent>("svc", endpoint),
            static (services, endpoint) => services.AddZlinkReceiver<Silent>("svc").UseRegistries(endpoint),
            static (services, endpoint) => services.AddZlinkRegistry(endpoint, "tcp://127.0.0.1:*"),
            static (services, endpoint) => services.AddZlinkRegistry("tcp://127.0.0.1:*", endpoint),
            static (services, endpoint) => services.AddZlinkSpotNode("node", endpoint),
            static (services, endpoint) => services.AddZlinkSpotNode("node", null, node => node.Connect(endpoint)),
            static (services, endpoint) => services.AddZlinkGateway(gateway => gateway.FollowRegistries(endpoint)),
            static (services, endpoint) => services.AddZlinkClient("svc", endpoint),
        ];
        foreach (string endpoint in watch.Planted("tcp://127.0.0.1:x", "ws://127.0.0.1:x/p", "amqp://h:1"))
        {
            foreach (Action<IServiceCollection, string> part in parts)
            {
                await RunAsync(watch, services => part(services, endpoint));
            }

            await RunAsync(
                watch, static services => services.AddZlinkRouter("jobs"), ("Sockets:jobs:Bind", endpoint),
                ("Sockets:jobs:Wrong", endpoint));
        }
    });

    [Fact]
    public Task A_host_whose_peers_cannot_be_reached_shows_no_secret() => SecretWatch.RunAsync(static async watch =>
    {
        string dead = watch.Query($"{SocketSecretTests.NobodyAt("ws")}/p");
        await RunAsync(watch, services =>
        {
            services.AddZlinkDealer("jobs", dead).AddHealthCheck();
            services.AddZlinkStream(watch.Query("ws://127.0.0.1:*/s"), static stream => stream.AddHealthCheck());
            services.AddZlinkReceiver<Silent>("svc", watch.Query("ws://127.0.0.1:*/r")).UseRegistries(dead).AddHealthCheck();
            services.AddZlinkRegistry(watch.Query("ws://127.0.0.1:*/a"), watch.Query("ws://127.0.0.1:*/b"));
            services.AddZlinkSpotNode("node", watch.Query("ws://127.0.0.1:*/n"), node => node.Connect(dead).UseRegistries(dead));
            services.AddZlinkGateway(gateway => gateway.AddReceiver("other", dead));
            services.AddZlinkJson(Contracts.Default);
            services.AddZlinkClient("other").AddHealthCheck();
        });
    });

    private static async Task RunAsync(SecretWatch watch, Action<IServiceCollection> add, params (string Key, string Value)[] settings)
    {
        await using var host = new HostFixture(settings);
        await watch.TryAsync(async () =>
        {
            host.Services.AddLogging(logging => logging.AddProvider(watch).SetMinimumLevel(LogLevel.Trace));
            host.Services.AddZlink(host.Section).AddHealthCheck();
            add(host.Services);
            await host.StartAsync();
            HealthReport report = await host.Get<HealthCheckService>().CheckHealthAsync(Guard.Token).Guarded();
            foreach ((string name, HealthReportEntry entry) in report.Entries)
            {
                watch.See($"{name} {entry.Description} {entry.Exception} {string.Join(' ', entry.Data)}");
            }

            await host.StopAsync();
        });
    }

    private sealed class Silent : IServiceHandler
    {
        public ValueTask HandleAsync(Net.Zlink.Services.ServiceRequest request, CancellationToken cancellationToken) => default;
    }
}
