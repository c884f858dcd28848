using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Services.Tests;

/// <summary>Design 5.5: a drain under load costs no request, 50 times among the slow tests.</summary>
public class DrainUnderLoadTests
{
    private static readonly DrainOptions Short = new()
    {
        MinDelay = TimeSpan.FromMilliseconds(20),
        IdleTime = TimeSpan.FromMilliseconds(50),
    };

    [Fact]
    public async Task Receivers_that_drain_and_close_under_load_cost_no_request_without_a_registry()
    {
        int rounds = Faults.Rounds(5, more: 50, byHand: 500);
        Func<ServiceRequest, CancellationToken, ValueTask> echo = static (request, cancellationToken) =>
            request.ReplyAsync(request.Memory, cancellationToken);
        await using var scene = new GatewayScene();
        await scene.AddServingAsync("staying", echo);
        await using (var load = new RequestLoad(scene.Client))
        {
            for (int round = 0; round < rounds; round++)
            {
                (ServiceReceiver receiver, string endpoint) = await scene.AddServingAsync($"leaving {round}", echo);
                await load.UntilAnsweredAsync(200);

                // The list keeps it until it has gone: only its own word takes it out.
                DrainReport report = await receiver.DrainAsync(Short, Guard.Token).Guarded();
                await receiver.DisposeAsync().Guarded();
                scene.Unlist(endpoint);
                Assert.Equal((true, 0), (report.IsIdle, report.Unfinished));
            }
        }

        AssertAllAnswered(scene.Gateway);
    }

    [Fact]
    public async Task Receivers_that_drain_under_load_cost_no_request_while_the_registry_is_dead()
    {
        int leaving = Faults.Rounds(3, more: 10, byHand: 50);
        await using var fixture = new ContextFixture();
        var registry = new ServiceRegistry(fixture.Context,
            new ServiceRegistryOptions { PublisherEndpoint = "tcp://127.0.0.1:*", RouterEndpoint = "tcp://127.0.0.1:*" });
        registry.Start();
        await using var discovery = new RegistryDirectory(fixture.Context);
        discovery.ConnectRegistry(registry.PublisherEndpoint);
        ServiceReceiver[] receivers = [.. Enumerable.Range(0, leaving + 1).Select(_ => fixture.Own(new ServiceReceiver(fixture.Context)))];
        foreach (ServiceReceiver receiver in receivers)
        {
            receiver.Bind("tcp://127.0.0.1:*");
            receiver.ConnectRegistry(registry.RouterEndpoint);
            receiver.Register("svc");
            _ = receiver.ServeAsync(static (request, cancellationToken) => request.ReplyAsync(request.Memory, cancellationToken),
                cancellationToken: Guard.Token);
        }

        await using var gateway = new ServiceGateway(fixture.Context, discovery);
        ServiceClient client = gateway.GetClient("svc");
        await client.WaitUntilReadyAsync(receivers.Length, Guard.Token).Guarded();
        await registry.DisposeAsync().Guarded();
        await using (var load = new RequestLoad(client))
        {
            foreach (ServiceReceiver receiver in receivers[1..])
            {
                await load.UntilAnsweredAsync(200);
                await receiver.DrainAsync(Short, Guard.Token).Guarded();
                await receiver.DisposeAsync().Guarded();
            }

            await load.UntilAnsweredAsync(200);
        }

        AssertAllAnswered(gateway);
        Assert.Equal(1, client.ReadyCount);
    }

    [Fact]
    public async Task Changes_of_the_list_under_load_cost_no_request()
    {
        Func<ServiceRequest, CancellationToken, ValueTask> echo = static (request, cancellationToken) =>
            request.ReplyAsync(request.Memory, cancellationToken);
        await using var scene = new GatewayScene();
        await scene.AddServingAsync("one", echo);
        (_, string endpoint) = await scene.AddServingAsync("two", echo);
        await using (var load = new RequestLoad(scene.Client))
        {
            for (uint i = 1; i <= Faults.Rounds(200, more: 200, byHand: 5_000); i++)
            {
                scene.Client.LoadBalancing = (LoadBalancing)(i % 3);
                scene.Unlist(endpoint);
                scene.List(endpoint, $"two {i}", weight: i);
                await load.UntilAnsweredAsync(5);
            }
        }

        AssertAllAnswered(scene.Gateway);
        Assert.Equal(1, scene.Gateway.GetReceivers()
            .Single(receiver => string.Equals(receiver.Endpoint, endpoint, StringComparison.Ordinal)).Connections);
    }

    private static void AssertAllAnswered(ServiceGateway gateway)
    {
        GatewayStatistics statistics = gateway.GetStatistics();
        Assert.Equal((statistics.StartedRequests, 0L, 0L),
            (statistics.AnsweredRequests, statistics.LostRequests, statistics.RefusedRequests));
    }
}
