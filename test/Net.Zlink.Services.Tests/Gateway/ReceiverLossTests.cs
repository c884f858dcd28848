using Net.Zlink.Services.Tests.Support;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Services.Tests;

/// <summary>Design 5.5: receivers that freeze, or end and come back.</summary>
public class ReceiverLossTests
{
    private static readonly Func<ServiceRequest, CancellationToken, ValueTask> Echo =
        static (request, cancellation) => request.ReplyAsync(request.Memory, cancellation);

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Each_restart_of_a_receiver_on_its_port_is_reached_over_one_link(bool hasFixedId)
    {
        await using var fixture = new RegistryFixture();
        ServiceRegistry registry = fixture.Start();
        await using var discovery = new RegistryDirectory(fixture.Context);
        discovery.ConnectRegistry(registry.PublisherEndpoint);
        await using var gateway = new ServiceGateway(fixture.Context, discovery);
        ServiceClient client = gateway.GetClient("svc");
        string endpoint = "tcp://127.0.0.1:*";
        for (int round = 0; round < Faults.Rounds(3, more: 20, byHand: 100); round++)
        {
            await using var receiver = new ServiceReceiver(fixture.Context,
                hasFixedId ? new ServiceReceiverOptions { Socket = { RoutingId = RoutingId.FromText("one") } } : null);
            endpoint = receiver.Bind(endpoint);
            receiver.ConnectRegistry(registry.RouterEndpoint);
            _ = receiver.ServeAsync(Echo, cancellationToken: Guard.Token);
            await receiver.RegisterAsync("svc", cancellationToken: Guard.Token).Guarded();
            await client.WaitUntilReadyAsync(1, Guard.Token).Guarded();
            using ServiceReply reply = await client.RequestAsync(new byte[1], Guard.Limit, Guard.Token).AsTask().Guarded();
            Assert.Equal(endpoint, Assert.Single(gateway.GetReceivers()).Endpoint);
            await receiver.DisposeAsync().Guarded();
            await Guard.UntilAsync(() => client.ReadyCount == 0, "the gateway sees that it has gone");
        }
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task Requests_that_a_drained_receiver_has_not_read_go_to_another_one(bool saysSo)
    {
        await using var scene = new GatewayScene();
        (RouterSocket leaving, string endpoint) = await scene.AddRawAsync("leaving");
        Task<string>[] asked = [.. Enumerable.Range(0, 10).Select(i => scene.AskAsync($"{i}"))];
        await Guard.UntilAsync(() => leaving.GetStatistics().UnreadMessages == asked.Length, "all are there, unread");
        await scene.AddServingAsync("staying", Echo);
        if (saysSo)
        {
            byte[] end = new byte[RequestEnvelope.HeaderSize];
            var envelope = new RequestEnvelope { Kind = EnvelopeKind.Refused, Flags = EnvelopeFlags.Draining, Code = RefusalCode.Draining };
            envelope.Write(end);
            leaving.To(Assert.Single(leaving.GetPeers()).RoutingId).Send(end);
            await scene.UntilReadyIsAsync(1);
        }

        Assert.All(asked, static request => Assert.False(request.IsCompleted));
        leaving.Dispose();
        scene.Unlist(endpoint);

        if (saysSo)
        {
            Assert.Equal("0123456789", string.Concat(await Task.WhenAll(asked).Guarded()));
            GatewayStatistics statistics = scene.Gateway.GetStatistics();
            Assert.Equal((asked.Length, 0L), ((int)statistics.RequestsSentAgain, statistics.LostRequests));
        }
        else
        {
            foreach (Task<string> request in asked)
            {
                Assert.True((await Assert.ThrowsAsync<ServiceException>(() => request.Guarded())).WasExecuted);
            }
        }
    }

    [Fact]
    public async Task A_receiver_that_freezes_is_left_out_by_heartbeats_and_costs_only_what_it_had()
    {
        await using var scene = new GatewayScene(new ServiceGatewayOptions
        {
            Socket = { HeartbeatInterval = TimeSpan.FromMilliseconds(50), HeartbeatTimeout = TimeSpan.FromMilliseconds(500) },
        });
        await using var freezing = new ServiceReceiver(scene.Fixture.Context);
        using var relay = new HoldingRelay(freezing.Bind("tcp://127.0.0.1:*"));
        _ = freezing.ServeAsync(Echo, cancellationToken: Guard.Token);
        scene.List(relay.Endpoint, "freezing");
        await scene.UntilReadyAsync(1);
        Assert.Equal("x", await scene.AskAsync("x"));

        relay.Hold();
        Task<string> lost = scene.AskAsync("lost");
        ServiceException failure = await Assert.ThrowsAsync<ServiceException>(() => lost.Guarded());
        Assert.Equal((ServiceError.ReceiverLost, true), (failure.Error, failure.WasExecuted));
        scene.Unlist(relay.Endpoint);
        await scene.AddServingAsync("other", Echo);
        Assert.Equal("y", await scene.AskAsync("y"));
        relay.Release();
    }
}
