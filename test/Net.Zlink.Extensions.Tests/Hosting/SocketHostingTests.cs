using System.Net;
using System.Net.Sockets;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Time.Testing;
using Net.Zlink.Extensions.Hosting;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Extensions.Tests;

/// <summary>Sockets that a host binds, connects and hands to the application by key.</summary>
public sealed class SocketHostingTests
{
    private const string AnyPort = "tcp://127.0.0.1:*";

    [Fact]
    public async Task Sockets_of_a_host_exchange_messages()
    {
        await using var server = new HostFixture();
        server.Services.AddZlinkRouter("jobs", AnyPort);
        await server.StartAsync();
        await using var client = new HostFixture();
        client.Services.AddZlinkDealer("jobs", server.Get<RouterSocket>("jobs").LastEndpoint);
        await client.StartAsync();

        await client.Get<DealerSocket>("jobs").SendAsync("hello", Guard.Token).Guarded();
        using Message request = await server.Get<RouterSocket>("jobs").ReceiveAsync(Guard.Token).Guarded();
        Assert.Equal("hello", request.GetString());
    }

    [Fact]
    public async Task Each_socket_type_is_registered_under_its_key()
    {
        await using var host = new HostFixture();
        host.Services.AddZlinkPair("pair", "inproc://pair");
        host.Services.AddZlinkDealer("dealer", "inproc://router");
        host.Services.AddZlinkRouter("router", "inproc://router");
        host.Services.AddZlinkPub("pub", "inproc://pub");
        host.Services.AddZlinkSub("sub", "inproc://pub").Subscribe("price.");
        host.Services.AddZlinkXPub("xpub", "inproc://xpub");
        host.Services.AddZlinkXSub("xsub", "inproc://xpub");
        host.Services.AddZlinkStream(AnyPort, name: "stream");
        await host.StartAsync();

        await Guard.UntilAsync(() => host.Get<PubSocket>("pub").PeerCount == 1, "the SUB is connected");
        await host.Get<PubSocket>("pub").SendAsync("price.EUR 1.2", Guard.Token).Guarded();
        using Message price = await host.Get<SubSocket>("sub").ReceiveAsync(Guard.Token).Guarded();
        Assert.Equal("price.EUR 1.2", price.GetString());
        Assert.NotEmpty(host.Get<PairSocket>("pair").BoundEndpoints);
        Assert.NotEmpty(host.Get<DealerSocket>("dealer").ConnectedEndpoints);
        Assert.NotEmpty(host.Get<RouterSocket>("router").BoundEndpoints);
        Assert.NotEmpty(host.Get<XPubSocket>("xpub").BoundEndpoints);
        Assert.NotEmpty(host.Get<XSubSocket>("xsub").ConnectedEndpoints);
        Assert.NotEmpty(host.Get<StreamSocket>("stream").BoundEndpoints);
    }

    [Fact]
    public async Task A_service_of_the_application_starts_when_sockets_are_bound()
    {
        await using var host = new HostFixture();
        host.Services.AddHostedService<Observer>(); // Registered first, and yet started later.
        host.Services.AddZlinkRouter("jobs", AnyPort);
        await host.StartAsync();
        Assert.Single(host.Host.Services.GetServices<IHostedService>().OfType<Observer>().Single().BoundAtStart);
    }

    [Fact]
    public async Task A_bind_that_fails_fails_the_start_with_the_socket_and_the_endpoint()
    {
        using var taken = new TcpListener(IPAddress.Loopback, 0);
        taken.Start();
        string endpoint = $"tcp://{taken.LocalEndpoint}";
        await using var host = new HostFixture();
        host.Services.AddHostedService<Observer>();
        host.Services.AddZlinkRouter("jobs", endpoint);
        var failure = await Assert.ThrowsAsync<ZlinkSettingException>(host.StartAsync);
        Assert.StartsWith($"ROUTER \"jobs\" cannot bind {endpoint}: ", failure.Message, StringComparison.Ordinal);
        Assert.Empty(host.Host.Services.GetServices<IHostedService>().OfType<Observer>().Single().BoundAtStart);
    }

    [Fact]
    public async Task A_context_has_the_loggers_the_meters_and_the_clock_of_its_host()
    {
        var clock = new FakeTimeProvider();
        await using var host = new HostFixture();
        host.Services.AddSingleton<TimeProvider>(clock);
        host.Services.AddZlink().Configure(static options => options.ShardCount = 1);
        ZlinkContext context = host.Get<ZlinkContext>();
        Assert.Same(clock, context.TimeProvider);
        Assert.Same(host.Get<ILoggerFactory>(), context.LoggerFactory);
        Assert.Same(host.Get<System.Diagnostics.Metrics.IMeterFactory>(), context.Meter.Scope);
        Assert.Single(context.GetStatistics().Shards);
    }

    [Fact]
    public async Task Named_contexts_have_their_own_sockets_settings_and_metrics()
    {
        await using var host = new HostFixture(("Feeds:Context:MaxSockets", "7"));
        host.Services.AddZlink();
        host.Services.AddZlink("feeds", host.Section.GetSection("Feeds"));
        host.Services.AddZlinkPair("here", "inproc://same");
        host.Services.AddZlinkPair("there", "inproc://same", context: "feeds"); // Names of inproc hold within one context.
        await host.StartAsync();
        ZlinkContext feeds = host.Get<ZlinkContext>("feeds");
        Assert.NotSame(host.Get<ZlinkContext>(), feeds);
        Assert.Equal("feeds", Assert.Single(feeds.Meter.Tags!, static tag => tag.Key is "zlink.context").Value);
        Assert.Equal((1, 1), (host.Get<ZlinkContext>().GetStatistics().Sockets, feeds.GetStatistics().Sockets));
        for (int i = 0; i < 6; i++)
        {
            feeds.CreatePair();
        }

        Assert.Equal(ZlinkError.TooManySockets, Assert.Throws<ZlinkException>(() => feeds.CreatePair()).Error);
    }

    [Fact]
    public void A_name_is_used_once()
    {
        var services = new ServiceCollection();
        services.AddZlinkRouter("jobs");
        var failure = Assert.Throws<ArgumentException>(() => services.AddZlinkDealer("jobs"));
        Assert.Contains("\"jobs\"", failure.Message, StringComparison.Ordinal);
    }

    private sealed class Observer([FromKeyedServices("jobs")] RouterSocket router) : IHostedService
    {
        public IReadOnlyList<string> BoundAtStart { get; private set; } = [];

        public Task StartAsync(CancellationToken cancellationToken)
        {
            BoundAtStart = router.BoundEndpoints;
            return Task.CompletedTask;
        }

        public Task StopAsync(CancellationToken cancellationToken) => Task.CompletedTask;
    }
}
