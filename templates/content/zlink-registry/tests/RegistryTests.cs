using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Net.Zlink;
using Net.Zlink.Services;
using Xunit;

namespace ZlinkApp1.Tests;

public sealed class RegistryTests
{
    [Fact]
    public async Task A_receiver_that_registers_is_listed()
    {
        CancellationToken cancellation = TestContext.Current.CancellationToken;
        HostApplicationBuilder builder = Host.CreateEmptyApplicationBuilder(null);
        builder.Configuration["Zlink:Registry:PublisherEndpoint"] = "tcp://127.0.0.1:*"; // Any free port.
        builder.Configuration["Zlink:Registry:RouterEndpoint"] = "tcp://127.0.0.1:*";
        builder.AddRegistry();
        using IHost host = builder.Build();
        await host.StartAsync(cancellation);
        ServiceRegistry registry = host.Services.GetRequiredService<ServiceRegistry>();

        await using var context = new ZlinkContext();
        await using var directory = new RegistryDirectory(context);
        directory.ConnectRegistry(registry.PublisherEndpoint);
        await using var receiver = new ServiceReceiver(context);
        receiver.Bind("tcp://127.0.0.1:*");
        receiver.ConnectRegistry(registry.RouterEndpoint);
        receiver.Register("echo");
        await directory.WaitForAsync("echo", cancellationToken: cancellation);
        Assert.Equal(1, directory.GetInstanceCount("echo"));
        await host.StopAsync(cancellation);
    }
}
