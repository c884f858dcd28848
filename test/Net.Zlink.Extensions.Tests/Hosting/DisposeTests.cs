using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.ServiceDiscovery;
using NATS.Client.Core;
using Net.Zlink.Extensions.Hosting;
using Net.Zlink.Extensions.Nats;
using Net.Zlink.Extensions.ServiceDiscovery;
using Net.Zlink.Services;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Extensions.Tests;

public sealed class DisposeTests
{
    [Fact]
    public void Whatever_a_container_holds_of_this_library_can_be_disposed_without_await()
    {
        Type[] inOneWay =
        [
            .. from assembly in new[]
                {
                    typeof(ZlinkContext).Assembly, typeof(ServiceGateway).Assembly, typeof(ZlinkBuilder).Assembly,
                    typeof(NatsServiceDirectory).Assembly, typeof(ServiceDiscoveryDirectory).Assembly,
                }
               from type in assembly.GetExportedTypes()
               where type.IsAssignableTo(typeof(IAsyncDisposable)) && !type.IsAssignableTo(typeof(IDisposable))
                   && type != typeof(StreamPipe) // One for each connection: its end is the connection's.
               select type,
        ];
        Assert.Empty(inOneWay);
    }

    [Fact]
    public async Task A_directory_that_is_disposed_without_await_ends_those_who_watch_it()
    {
        await using var context = new ZlinkContext();
        await using var nats = new NatsConnection(new NatsOpts { Url = "nats://127.0.0.1:1" });
        await using ServiceProvider theirs = new ServiceCollection() // What ServiceDiscovery registers needs an await.
            .AddSingleton<IConfiguration>(new ConfigurationManager()).AddServiceDiscovery().BuildServiceProvider();
        var services = new ServiceCollection();
        services.AddSingleton<IServiceDirectory>(
            _ => new ServiceDiscoveryDirectory(context, theirs.GetRequiredService<ServiceEndpointResolver>()));
        services.AddKeyedSingleton<IServiceDirectory>("dns", (_, _) => new DnsDirectory(context));
        services.AddKeyedSingleton<IServiceDirectory>(
            "nats", (_, _) => new NatsServiceDirectory(context, nats));
        ServiceProvider provider = services.BuildServiceProvider();
        Task[] watches =
        [
            .. new[]
            {
                provider.GetRequiredService<IServiceDirectory>(), provider.GetRequiredKeyedService<IServiceDirectory>("dns"),
                provider.GetRequiredKeyedService<IServiceDirectory>("nats"),
            }.Select(static directory => WatchAsync(directory)),
        ];
        provider.Dispose();
        await Task.WhenAll(watches).Guarded();
    }

    private static async Task WatchAsync(IServiceDirectory directory)
    {
        await foreach (ServiceChange change in directory.WatchAsync("quotes", Guard.Token))
        {
            Assert.Empty(change.After.Instances);
        }
    }
}
