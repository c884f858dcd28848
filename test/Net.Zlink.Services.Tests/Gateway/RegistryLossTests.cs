using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Services.Tests;

/// <summary>Design 5.5: registries that die and return under load.</summary>
public class RegistryLossTests
{
    private const string Service = "svc";

    [Fact]
    public async Task Registries_that_die_and_return_under_load_cost_no_request_and_no_entry()
    {
        int rounds = Faults.Rounds(1, more: 12, byHand: 60);
        await using var scene = await Scene.StartAsync();
        int fewest = int.MaxValue;
        Task watching = WatchAsync();
        await using (var load = new RequestLoad(scene.Client))
        {
            for (int round = 0; round < rounds; round++)
            {
                int which = round % scene.Registries.Length;
                await load.UntilAnsweredAsync(200);
                await scene.Registries[which].DisposeAsync().Guarded();
                await load.UntilAnsweredAsync(500);
                scene.Restart(which);
                await Guard.UntilAsync(() => scene.Registries[which].GetSnapshot().OwnEntries == scene.Receivers.Length,
                    "each receiver registers again");
            }
        }

        await scene.Discovery.DisposeAsync();
        await watching.Guarded();
        Assert.Equal(scene.Receivers.Length, fewest);
        AssertAllAnswered(scene);

        async Task WatchAsync()
        {
            await foreach (ServiceChange change in scene.Discovery.WatchAsync(Service))
            {
                fewest = Math.Min(fewest, change.After.Instances.Length);
            }
        }
    }

    [Fact]
    public async Task Without_any_registry_requests_go_on_and_a_receiver_that_dies_is_left_out_at_once()
    {
        await using var scene = await Scene.StartAsync();
        await using (var load = new RequestLoad(scene.Client))
        {
            foreach (ServiceRegistry registry in scene.Registries)
            {
                await registry.DisposeAsync().Guarded();
            }

            await load.UntilAnsweredAsync(Faults.Rounds(1_000, more: 10_000, byHand: 200_000));
        }

        AssertAllAnswered(scene);
        await scene.Receivers[0].DisposeAsync().Guarded();
        await Guard.UntilAsync(() => scene.Client.ReadyCount == 2, "the connection says that it has gone");
        Assert.Equal(3, scene.Discovery.GetInstanceCount(Service));
        using ServiceReply reply = await scene.Client.RequestAsync(new byte[1], Guard.Limit, Guard.Token).AsTask().Guarded();
    }

    private static void AssertAllAnswered(Scene scene)
    {
        GatewayStatistics statistics = scene.Gateway.GetStatistics();
        Assert.Equal((statistics.StartedRequests, 0L, 0L),
            (statistics.AnsweredRequests, statistics.LostRequests, statistics.UnmatchedReplies));
    }

    /// <summary>Three registries in a full mesh, three receivers at each of them, and a gateway.</summary>
    private sealed class Scene : IAsyncDisposable
    {
        private readonly ContextFixture _fixture = new();
        private readonly (string Publisher, string Router)[] _endpoints;

        private Scene()
        {
            Registries = [.. Enumerable.Range(1, 3).Select(id => Start(id, "tcp://127.0.0.1:*", "tcp://127.0.0.1:*", []))];
            _endpoints = [.. Registries.Select(static registry => (registry.PublisherEndpoint, registry.RouterEndpoint))];
            foreach (ServiceRegistry registry in Registries)
            {
                Array.ForEach(PeersOf(registry.PublisherEndpoint), registry.AddPeer);
            }

            Receivers = [.. Enumerable.Range(0, 3).Select(_ => new ServiceReceiver(_fixture.Context))];
            Discovery = new RegistryDirectory(_fixture.Context);
            Gateway = new ServiceGateway(_fixture.Context, Discovery);
            Client = Gateway.GetClient(Service);
        }

        public ServiceRegistry[] Registries { get; }

        public ServiceReceiver[] Receivers { get; }

        public RegistryDirectory Discovery { get; }

        public ServiceGateway Gateway { get; }

        public ServiceClient Client { get; }

        public static async Task<Scene> StartAsync()
        {
            var scene = new Scene();
            foreach (ServiceReceiver receiver in scene.Receivers)
            {
                receiver.Bind("tcp://127.0.0.1:*");
                Array.ForEach(scene._endpoints, endpoint => receiver.ConnectRegistry(endpoint.Router));
                receiver.Register(Service);
                _ = receiver.ServeAsync(static (request, cancellation) => request.ReplyAsync(request.Memory, cancellation),
                    cancellationToken: Guard.Token);
            }

            await Guard.UntilAsync(() => scene.Registries.All(static registry => registry.GetSnapshot().OwnEntries == 3),
                "each receiver is registered at each registry");
            Array.ForEach(scene._endpoints, endpoint => scene.Discovery.ConnectRegistry(endpoint.Publisher));
            await scene.Discovery.WaitForAsync(Service, 3, Guard.Token).Guarded();
            await scene.Client.WaitUntilReadyAsync(3, Guard.Token).Guarded();
            return scene;
        }

        public void Restart(int which)
        {
            (string publisher, string router) = _endpoints[which];
            Registries[which] = Start(which + 1, publisher, router, PeersOf(publisher));
        }

        public async ValueTask DisposeAsync()
        {
            await Gateway.DisposeAsync().Guarded();
            await Discovery.DisposeAsync().Guarded();
            await Task.WhenAll(Receivers.Select(static receiver => receiver.DisposeAsync().AsTask())).Guarded();
            await Task.WhenAll(Registries.Select(static registry => registry.DisposeAsync().AsTask())).Guarded();
            await _fixture.DisposeAsync();
        }

        private string[] PeersOf(string publisher) =>
            [.. _endpoints.Select(static endpoint => endpoint.Publisher)
                .Where(other => !string.Equals(other, publisher, StringComparison.Ordinal))];

        private ServiceRegistry Start(int id, string publisher, string router, string[] peers)
        {
            var registry = new ServiceRegistry(_fixture.Context,
                new ServiceRegistryOptions { Id = (uint)id, PublisherEndpoint = publisher, RouterEndpoint = router, Peers = peers });
            registry.Start();
            return registry;
        }
    }
}
