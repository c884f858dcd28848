using System.Globalization;
using System.Net;
using System.Net.Sockets;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Testing;
using Net.Zlink.Extensions.Hosting;
using Net.Zlink.Services;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Extensions.Tests;

public sealed class RunZlinkTests
{
    [Theory]
    [InlineData("Sockets:jobs:Options:SendHighWaterMark", "many", "Zlink:Sockets:jobs:Options:SendHighWaterMark")]
    [InlineData("Sockets:jobs:Bind", "tcp:nowhere", "ROUTER \"jobs\" cannot bind tcp:nowhere")]
    public async Task RunZlinkAsync_writes_a_wrong_setting_as_a_message_without_a_stack_trace_and_returns_1(
        string key, string value, string named)
    {
        var host = new HostFixture((key, value));
        host.Services.AddZlink(host.Section);
        host.Services.AddZlinkRouter("jobs", "inproc://jobs");
        FakeLogCollector log = host.Host.Services.GetFakeLogCollector();
        using var error = new StringWriter(CultureInfo.InvariantCulture);
        Assert.Equal(1, await host.Host.RunZlinkAsync(error, Guard.Token).Guarded());
        Assert.Contains(named, error.ToString(), StringComparison.Ordinal);
        Assert.DoesNotContain("   at ", error.ToString(), StringComparison.Ordinal);
        Assert.DoesNotContain(log.GetSnapshot(), static record => record.Level >= LogLevel.Error);
    }

    [Fact]
    public async Task RunZlinkAsync_writes_what_a_check_of_the_application_says_and_binds_nothing()
    {
        var host = new HostFixture(("Gateway:RequestTimeout", "00:00:09"));
        host.Services.AddZlink(host.Section);
        host.Services.AddZlinkRouter("jobs", "tpc://nowhere");
        host.Services.Configure<ServiceGatewayOptions>(static options => (options.WaitForReady, options.UnreadMessageLimit) = (false, 7));
        host.Services.AddZlinkGateway(static gateway => gateway.AddReceiver("quotes", "inproc://quotes")
            .Validate(static options => options.RequestTimeout < TimeSpan.FromSeconds(9) || options.WaitForReady, "Too long."));
        using var error = new StringWriter(CultureInfo.InvariantCulture);
        ServiceGatewayOptions options = new();
        host.Services.PostConfigure<ServiceGatewayOptions>(configured => options = configured);
        Assert.Equal(1, await host.Host.RunZlinkAsync(error, Guard.Token).Guarded());
        Assert.StartsWith("The program cannot start. Too long.", error.ToString(), StringComparison.Ordinal);
        Assert.Equal((9, 7), (options.RequestTimeout.TotalSeconds, options.UnreadMessageLimit));
    }

    [Theory]
    [InlineData("127.0.0.1", "address already in use")]
    [InlineData("192.0.2.1", "cannot listen at its address")]
    public async Task RunZlinkAsync_says_in_one_sentence_that_the_web_server_cannot_listen(string host, string words)
    {
        using var taken = new TcpListener(IPAddress.Loopback, 0);
        taken.Start();
        WebApplicationBuilder builder = WebApplication.CreateSlimBuilder();
        builder.Logging.ClearProviders();
        builder.WebHost.UseUrls($"http://{host}:{((IPEndPoint)taken.LocalEndpoint).Port}");
        builder.Services.AddZlink();
        using var error = new StringWriter(CultureInfo.InvariantCulture);
        Assert.Equal(1, await builder.Build().RunZlinkAsync(error, Guard.Token).Guarded());
        Assert.StartsWith("The program cannot start. ", error.ToString(), StringComparison.Ordinal);
        Assert.Contains(words, error.ToString(), StringComparison.Ordinal);
        Assert.DoesNotContain("   at ", error.ToString(), StringComparison.Ordinal);
    }

    [Fact]
    public async Task RunZlinkAsync_returns_0_when_the_host_was_stopped()
    {
        var host = new HostFixture();
        host.Services.AddZlinkRouter("jobs", "inproc://jobs");
        IHostApplicationLifetime lifetime = host.Get<IHostApplicationLifetime>();
        using CancellationTokenRegistration stop = lifetime.ApplicationStarted.Register(lifetime.StopApplication);
        Assert.Equal(0, await host.Host.RunZlinkAsync(cancellationToken: Guard.Token).Guarded());
    }
}
