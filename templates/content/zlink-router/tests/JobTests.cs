using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Net.Zlink;
using Xunit;

namespace ZlinkApp1.Tests;

public sealed class JobTests
{
    [Fact]
    public async Task A_job_is_answered_whoever_has_left_before()
    {
        CancellationToken cancellation = TestContext.Current.CancellationToken;
        HostApplicationBuilder builder = Host.CreateEmptyApplicationBuilder(null);
        builder.Configuration["Zlink:Sockets:jobs:Bind"] = "tcp://127.0.0.1:*"; // Any free port.
        builder.AddJobs();
        using IHost host = builder.Build();
        await host.StartAsync(cancellation);

        await using var context = new ZlinkContext();
        string endpoint = host.Services.GetRequiredKeyedService<RouterSocket>("jobs").LastEndpoint;
        for (int i = 0; i < 20; i++)
        {
            using DealerSocket leaving = context.CreateDealer();
            leaving.Connect(endpoint);
            await leaving.SendAsync("nobody waits", cancellation);
        }

        DealerSocket dealer = context.CreateDealer();
        dealer.Connect(endpoint);
        await dealer.SendAsync("hello", cancellation);
        using Message answer = await dealer.ReceiveAsync(cancellation);
        Assert.Equal("hello", answer.GetString());
        await host.StopAsync(cancellation);
    }
}
