using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Net.Zlink.Extensions.Hosting;
using Net.Zlink.Extensions.ServiceDiscovery;
using Net.Zlink.Services;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Extensions.Tests;

/// <summary>What an Aspire app host passes to the programs that it starts, as environment variables of this process.</summary>
public sealed class AspireTests
{
    [Fact]
    public async Task A_client_and_a_dealer_follow_services_that_an_app_host_names_in_the_environment()
    {
        await using var backend = new ZlinkContext();
        await using var server = new RequestServer(backend, "tcp://127.0.0.1:*", Serializers.Json);
        _ = server.ServeAsync<Ask, Quote>(
            static (ask, _) => ValueTask.FromResult(new Quote(ask.Currency, 1.2m)), cancellationToken: Guard.Token);
        RouterSocket router = backend.CreateRouter();
        string orders = Pass("orders", server.Endpoint);
        string jobs = Pass("jobs", router.Bind("tcp://127.0.0.1:*"));

        HostApplicationBuilder builder = Host.CreateApplicationBuilder();
        builder.Logging.ClearProviders();
        builder.Services.AddZlink(builder.Configuration.GetSection("Zlink"));
        builder.Services.AddZlinkServiceDiscoveryDirectory().AddZlinkJson(Contracts.Default).AddZlinkGateway().AddZlinkClient(orders);
        builder.Services.AddZlinkDealer("jobs").Follow(jobs);
        using IHost host = builder.Build();
        await host.StartAsync(Guard.Token).Guarded();

        RequestClient client = host.Services.GetRequiredKeyedService<RequestClient>(orders);
        await client.Service.WaitUntilReadyAsync(cancellationToken: Guard.Token).Guarded();
        Assert.Equal(new Quote("EUR", 1.2m), await client.RequestAsync<Ask, Quote>(new Ask("EUR"), Guard.Limit, Guard.Token).Guarded());
        await host.Services.GetRequiredKeyedService<DealerSocket>("jobs").SendAsync("job", Guard.Token).Guarded();
        using Message job = await router.ReceiveAsync(Guard.Token).Guarded();
        Assert.Equal("job", job.GetString());
        await host.StopAsync(Guard.Token).Guarded();
    }

    /// <summary>As <c>WithReference</c> does: services__orders__tcp__0=tcp://localhost:5555.</summary>
    /// <returns>A name that no other test has, since the environment is the process's.</returns>
    private static string Pass(string service, string endpoint)
    {
        string name = $"{service}-{Guid.NewGuid():N}";
        Environment.SetEnvironmentVariable(
            $"services__{name}__tcp__0", endpoint.Replace("127.0.0.1", "localhost", StringComparison.Ordinal));
        return name;
    }
}
