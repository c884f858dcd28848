using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging.Testing;
using Net.Zlink.Extensions.Hosting;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Extensions.Tests;

/// <summary>How a host ends: it listens no more, finishes what is there, delivers what was accepted, and says so.</summary>
public sealed class StopTests
{
    [Fact]
    public async Task A_host_that_stops_under_load_answers_every_request_that_had_come()
    {
        await using var server = new HostFixture();
        server.Services.AddZlinkRouter("jobs", "tcp://127.0.0.1:*");
        server.Services.AddHostedService<Echo>();
        await server.StartAsync();
        await using var client = new ZlinkContext();
        using DealerSocket dealer = client.CreateDealer();
        dealer.Connect(server.Get<RouterSocket>("jobs").LastEndpoint);
        const int Requests = 20_000;
        for (int i = 0; i < Requests; i++)
        {
            await dealer.SendAsync(BitConverter.GetBytes(i), Guard.Token).Guarded();
        }

        await Guard.UntilAsync(() => server.Get<RouterSocket>("jobs").GetStatistics().ReceivedMessages == Requests, "all have come");
        Task stopped = server.StopAsync();
        for (int i = 0; i < Requests; i++)
        {
            using Message reply = await dealer.ReceiveAsync(Guard.Token).Guarded();
            Assert.Equal(i, BitConverter.ToInt32(reply.Span));
        }

        await stopped.Guarded();
        Assert.DoesNotContain(server.Log, static line => line.Message.Contains("has not received", StringComparison.Ordinal));
        Assert.Single(server.Log, static line => line.Message.StartsWith("ROUTER \"jobs\" has stopped listening",
            StringComparison.Ordinal));
        Assert.Single(server.Log, static line => line.Message.EndsWith("all accepted messages are delivered", StringComparison.Ordinal));
    }

    [Fact]
    public async Task A_host_that_stops_delivers_what_its_services_sent_last()
    {
        await using var context = new ZlinkContext();
        using PairSocket listener = context.CreatePair();
        listener.Bind("tcp://127.0.0.1:*");
        await using var host = new HostFixture();
        host.Services.AddZlinkPair("out", connect: listener.LastEndpoint);
        host.Services.AddHostedService<Farewell>();
        await host.StartAsync();
        await host.StopAsync();
        using Message last = await listener.ReceiveAsync(Guard.Token).Guarded();
        Assert.Equal("goodbye", last.GetString());
    }

    [Fact]
    public async Task A_socket_that_listens_no_more_still_serves_its_peers_while_services_stop()
    {
        await using var host = new HostFixture();
        host.Services.AddZlinkRouter("jobs", "tcp://127.0.0.1:*");
        var stopping = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var goOn = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        host.Services.AddHostedService(_ => new Pause(stopping, goOn.Task));
        await host.StartAsync();
        RouterSocket router = host.Get<RouterSocket>("jobs");
        await using var client = new ZlinkContext();
        using DealerSocket known = client.CreateDealer();
        known.Connect(router.LastEndpoint);
        await known.SendAsync("1", Guard.Token).Guarded();
        using Message first = await router.ReceiveAsync(Guard.Token).Guarded();

        Task stopped = host.StopAsync();
        await stopping.Task.Guarded();
        Assert.Empty(router.BoundEndpoints);
        await known.SendAsync("2", Guard.Token).Guarded();
        using Message second = await router.ReceiveAsync(Guard.Token).Guarded();
        await router.To(second.RoutingId).SendAsync("late but served", Guard.Token).Guarded();
        using Message reply = await known.ReceiveAsync(Guard.Token).Guarded();
        Assert.Equal("late but served", reply.GetString());
        goOn.SetResult();
        await stopped.Guarded();
    }

    [Fact]
    public async Task A_host_says_what_it_could_not_deliver_within_its_shutdown_timeout()
    {
        await using var host = new HostFixture();
        host.Services.Configure<HostOptions>(static options => options.ShutdownTimeout = TimeSpan.FromSeconds(1));
        host.Services.AddZlinkDealer("out", "tcp://127.0.0.1:1"); // Nobody listens there.
        await host.StartAsync();
        await host.Get<DealerSocket>("out").SendAsync("never", Guard.Token).Guarded();
        long started = TimeProvider.System.GetTimestamp();
        await host.StopAsync();
        Assert.InRange(TimeProvider.System.GetElapsedTime(started), TimeSpan.FromSeconds(0.5), TimeSpan.FromSeconds(10));
        FakeLogRecord said = Assert.Single(
            host.Log, static line => line.Message.Contains("before all messages were delivered", StringComparison.Ordinal));
        Assert.Contains("tcp://127.0.0.1:1", said.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Messages_that_nobody_received_are_counted_in_the_log()
    {
        await using var host = new HostFixture();
        host.Services.AddZlinkRouter("jobs", "inproc://jobs");
        host.Services.AddZlinkDealer("client", "inproc://jobs");
        await host.StartAsync();
        await host.Get<DealerSocket>("client").SendAsync("1", Guard.Token).Guarded();
        await host.Get<DealerSocket>("client").SendAsync("2", Guard.Token).Guarded();
        await host.StopAsync();
        Assert.Single(host.Log, static line =>
            line.Message is "ROUTER \"jobs\" ends with 2 messages that the application has not received");
    }

    private sealed class Echo([FromKeyedServices("jobs")] RouterSocket router) : BackgroundService
    {
        protected override async Task ExecuteAsync(CancellationToken stoppingToken)
        {
            await foreach (Message request in router.ReceiveAllAsync(stoppingToken))
            {
                using (request)
                {
                    await router.To(request.RoutingId).SendAsync(request.Memory, CancellationToken.None);
                }
            }
        }
    }

    private sealed class Farewell([FromKeyedServices("out")] PairSocket pair) : IHostedService
    {
        public Task StartAsync(CancellationToken cancellationToken) => Task.CompletedTask;

        public Task StopAsync(CancellationToken cancellationToken) => pair.SendAsync("goodbye", cancellationToken).AsTask();
    }

    private sealed class Pause(TaskCompletionSource stopping, Task goOn) : IHostedService
    {
        public Task StartAsync(CancellationToken cancellationToken) => Task.CompletedTask;

        public Task StopAsync(CancellationToken cancellationToken)
        {
            stopping.SetResult();
            return goOn;
        }
    }
}
