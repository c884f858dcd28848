using System.Text;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Services.Tests;

public class DrainUnderLoadTests
{
    [Fact]
    public async Task Receivers_that_drain_and_close_under_load_cost_no_request_without_a_registry()
    {
        const int Rounds = 5;
        Func<ServiceRequest, CancellationToken, ValueTask> echo = static (request, cancellationToken) =>
            request.ReplyAsync(request.Memory, cancellationToken);
        await using var scene = new GatewayScene();
        await scene.AddServingAsync("staying", echo);
        using var stop = new CancellationTokenSource();
        Task load = LoadAsync(scene.Client, stop.Token);
        for (int round = 0; round < Rounds; round++)
        {
            (Receiver receiver, string endpoint) = await scene.AddServingAsync($"leaving {round}", echo);
            long answered = scene.Gateway.GetStatistics().AnsweredRequests;
            await scene.Fixture.UntilAsync(() => load.IsCompleted || scene.Gateway.GetStatistics().AnsweredRequests > answered + 200);

            // The list keeps it until it has gone: only its own word takes it out.
            await receiver.DrainAsync(new DrainOptions
            {
                MinDelay = TimeSpan.FromMilliseconds(20),
                IdleTime = TimeSpan.FromMilliseconds(50)
            }, Guard.Token).Guarded();
            await receiver.DisposeAsync().Guarded();
            scene.Unlist(endpoint);
        }

        await stop.CancelAsync();
        await load.Guarded();
        GatewayStatistics statistics = scene.Gateway.GetStatistics();
        Assert.Equal((statistics.StartedRequests, 0L, 0L),
            (statistics.AnsweredRequests, statistics.LostRequests, statistics.RefusedRequests));
    }

    [Fact]
    public async Task Changes_of_the_list_under_load_cost_no_request()
    {
        Func<ServiceRequest, CancellationToken, ValueTask> echo = static (request, cancellationToken) =>
            request.ReplyAsync(request.Memory, cancellationToken);
        await using var scene = new GatewayScene();
        await scene.AddServingAsync("one", echo);
        (_, string endpoint) = await scene.AddServingAsync("two", echo);
        using var stop = new CancellationTokenSource();
        Task load = LoadAsync(scene.Client, stop.Token);
        for (uint i = 1; i <= 200; i++)
        {
            scene.Client.LoadBalancing = (LoadBalancing)(i % 3);
            scene.Unlist(endpoint);
            scene.List(endpoint, $"two {i}", weight: i);
            long answered = scene.Gateway.GetStatistics().AnsweredRequests;
            await scene.Fixture.UntilAsync(() => load.IsCompleted || scene.Gateway.GetStatistics().AnsweredRequests > answered + 5);
        }

        await stop.CancelAsync();
        await load.Guarded();
        Assert.Equal(scene.Gateway.GetStatistics().StartedRequests, scene.Gateway.GetStatistics().AnsweredRequests);
        Assert.Equal(1, scene.Gateway.GetReceivers()
            .Single(receiver => string.Equals(receiver.Endpoint, endpoint, StringComparison.Ordinal)).Connections);
    }

    private static Task LoadAsync(ServiceClient client, CancellationToken stop) =>
        Task.WhenAll(Enumerable.Range(0, 8).Select(sender => Task.Run(async () =>
    {
        for (int i = 0; !stop.IsCancellationRequested; i++)
        {
            byte[] text = Encoding.UTF8.GetBytes($"{sender} {i}");
            using ServiceReply reply = await client.RequestAsync(text, Guard.Limit, Guard.Token);
            Assert.True(reply.Span.SequenceEqual(text));
        }
    })));
}
