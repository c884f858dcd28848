using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.Hosting;
using Net.Zlink.Extensions.Hosting;
using Net.Zlink.Services;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Extensions.Tests;

/// <summary>What a gateway of a host has by default that one without a host has not.</summary>
public sealed class GatewayDefaultsTests
{
    [Theory]
    [InlineData("Development", null, 300)]
    [InlineData("Development", "00:00:07", 7)]
    [InlineData("Production", null, 3)]
    [InlineData("Production", "00:00:07", 7)]
    public void A_receiver_in_a_debugger_is_waited_for_in_the_development_environment_unless_the_time_is_set(
        string environment, string? configured, int seconds)
    {
        HostApplicationBuilder builder = Host.CreateEmptyApplicationBuilder(
            new HostApplicationBuilderSettings { EnvironmentName = environment });
        builder.Configuration.AddInMemoryCollection([new("Gateway:RequestTimeout", "00:00:01")]);
        if (configured is not null)
        {
            builder.Configuration.AddInMemoryCollection([new("Gateway:Socket:HeartbeatTimeout", configured)]);
        }

        using IHost host = builder.Build();
        var options = new ServiceGatewayOptions();
        ServiceDefaults.Set(options, host.Services);
        SettingSources.Read(builder.Configuration.GetSection("Gateway"), builder.Configuration).Read([options]);
        Assert.Equal((TimeSpan.FromSeconds(seconds), true), (options.Socket.HeartbeatTimeout!.Value, options.WaitForReady));
    }

    [Fact]
    public async Task A_request_of_a_host_that_comes_before_its_receiver_waits_for_it()
    {
        var directory = new StaticDirectory();
        await using var host = new HostFixture();
        host.Services.AddZlink(host.Section);
        host.Services.AddZlinkJson(Contracts.Default);
        host.Services.AddZlinkReceiver<Ask, Quote>(
            "quotes", "inproc://early", static (ask, _) => ValueTask.FromResult(new Quote(ask.Currency, 1)));
        host.Services.AddZlinkGateway(gateway => gateway.UseDirectory(_ => directory));
        host.Services.AddZlinkClient("quotes");
        await host.StartAsync();

        Task<Quote> early = host.Get<RequestClient>("quotes").RequestAsync<Ask, Quote>(new Ask("EUR"), Guard.Limit, Guard.Token).AsTask();
        directory.SetService("quotes", new ServiceInstance("quotes", "inproc://early"));
        Assert.Equal(new Quote("EUR", 1), await early.Guarded());
        await host.StopAsync();
    }
}
