using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Net.Zlink;
using Xunit;

namespace ZlinkApp1.Tests;

public sealed class JobTests
{
    [Fact]
    public async Task A_job_is_answered()
    {
        CancellationToken cancellation = TestContext.Current.CancellationToken;
        HostApplicationBuilder builder = Host.CreateEmptyApplicationBuilder(null);
        builder.Configuration["Zlink:Sockets:jobs:Bind"] = "tcp://127.0.0.1:*"; // Any free port.
        builder.AddJobs();
        using IHost host = builder.Build();
        await host.StartAsync(cancellation);

        await using var context = new ZlinkContext();
        DealerSocket dealer = context.CreateDealer();
        dealer.Connect(host.Services.GetRequiredKeyedService<RouterSocket>("jobs").LastEndpoint);
        await dealer.SendAsync("hello", cancellation);
        using Message answer = await dealer.ReceiveAsync(cancellation);
        Assert.Equal("hello", answer.GetString());
        await host.StopAsync(cancellation);
    }
}
