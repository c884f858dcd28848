using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Services.Tests;

/// <summary>The native core's core/tests/discovery/test_service_discovery.cpp, test by test with its values. Where it sleeps, these wait
/// for what it sleeps for.</summary>
public class ServiceDiscoveryTests
{
    // What the native test allows for an instance to appear, and to go behind its timeout.
    private static readonly TimeSpan AppearLimit = TimeSpan.FromMilliseconds(2000);
    private static readonly TimeSpan VanishLimit = TimeSpan.FromMilliseconds(500 + 300 + 1000);

    [Fact(DisplayName = "test_discovery_provider_registration")]
    public async Task A_registered_receiver_is_discovered()
    {
        await using var fixture = new ContextFixture();
        await using ServiceRegistry registry = Start(fixture, "basic");
        await using RegistryDirectory discovery = Discover(fixture, "basic", "test-svc");
        await using var provider = new ServiceReceiver(fixture.Context);
        string advertised = await RegisterAsync(provider, "basic", "test-svc", 1);

        await WaitAsync(discovery, "test-svc");
        ServiceInstance instance = Assert.Single(discovery.GetService("test-svc").Instances);
        Assert.Equal(1, discovery.GetInstanceCount("test-svc"));
        Assert.Equal(("test-svc", advertised, 1u), (instance.Service, instance.Endpoint, instance.Weight));
        Assert.True(instance.RoutingId.Length > 0);
    }

    [Fact(DisplayName = "test_discovery_service_filtering")]
    public async Task Only_subscribed_services_are_shown()
    {
        await using var fixture = new ContextFixture();
        await using ServiceRegistry registry = Start(fixture, "filter");
        await using RegistryDirectory discovery = Discover(fixture, "filter", "svc-A");
        await using var providerA = new ServiceReceiver(fixture.Context);
        await using var providerB = new ServiceReceiver(fixture.Context);
        string advertisedA = await RegisterAsync(providerA, "filter", "svc-A", 10);
        string advertisedB = await RegisterAsync(providerB, "filter", "svc-B", 20);

        await WaitAsync(discovery, "svc-A");
        ServiceInstance a = Assert.Single(discovery.GetService("svc-A").Instances);
        Assert.Equal(("svc-A", advertisedA, 10u), (a.Service, a.Endpoint, a.Weight));
        Assert.Equal(0, discovery.GetInstanceCount("svc-B"));

        discovery.Subscribe("svc-B");
        await WaitAsync(discovery, "svc-B");
        ServiceInstance b = Assert.Single(discovery.GetService("svc-B").Instances);
        Assert.Equal(("svc-B", advertisedB, 20u), (b.Service, b.Endpoint, b.Weight));
        Assert.Equal((1, 1), (discovery.GetInstanceCount("svc-A"), discovery.GetInstanceCount("svc-B")));
    }

    [Fact(DisplayName = "test_discovery_heartbeat_timeout")]
    public async Task A_receiver_that_goes_without_a_word_leaves_the_list_when_its_lease_is_over()
    {
        await using var fixture = new ContextFixture();
        await using ServiceRegistry registry = Start(fixture, "hb", TimeSpan.FromMilliseconds(500));
        await using RegistryDirectory discovery = Discover(fixture, "hb", "hb-svc");

        // The native receiver sends no UNREGISTER at its end. Ours does, so here its registration is sent by hand.
        await using var provider = new ServiceReceiver(fixture.Context);
        string advertised = provider.Bind("tcp://127.0.0.1:*");
        using (DealerSocket dealer = fixture.Context.CreateDealer())
        {
            dealer.Connect(registry.RouterEndpoint);
            using var register = new MessageBuilder();
            Task appears = WaitAsync(discovery, "hb-svc");
            while (!appears.IsCompleted) // The lease is short, and a busy machine may take longer.
            {
                RegistrationFrames.WriteRegister(register, MessageIds.Register, (ushort)ServiceKind.Receiver, "hb-svc"u8,
                    new ServiceText(advertised).Span, 1);
                dealer.Send(register, Guard.Limit);
                using Message ack = await dealer.ReceiveAsync(Guard.Token).Guarded();
            }

            await appears;
            Assert.Equal(1, discovery.GetInstanceCount("hb-svc"));
        }

        // A busy machine is slower than the native test allows.
        await Guard.UntilAsync(() => discovery.GetInstanceCount("hb-svc") == 0, "the lease is over", VanishLimit * 4);
    }

    [Fact(DisplayName = "test_discovery_weight_update")]
    public async Task An_updated_weight_is_discovered()
    {
        await using var fixture = new ContextFixture();
        await using ServiceRegistry registry = Start(fixture, "weight");
        await using RegistryDirectory discovery = Discover(fixture, "weight", "weight-svc");
        await using var provider = new ServiceReceiver(fixture.Context);
        provider.Bind("tcp://127.0.0.1:*");
        provider.ConnectRegistry("inproc://reg-router-weight");
        ServiceRegistration registration = await provider.RegisterAsync("weight-svc", weight: 10, cancellationToken: Guard.Token).Guarded();
        await WaitAsync(discovery, "weight-svc");
        Assert.Equal(10u, Assert.Single(discovery.GetService("weight-svc").Instances).Weight);

        await registration.UpdateWeightAsync(50, Guard.Token).Guarded();

        await Guard.UntilAsync(() => discovery.GetService("weight-svc").Instances is [{ Weight: 50 }], "the weight is 50");
    }

    private static ServiceRegistry Start(ContextFixture fixture, string name, TimeSpan? heartbeatTimeout = null)
    {
        var registry = new ServiceRegistry(fixture.Context, new ServiceRegistryOptions
        {
            PublisherEndpoint = $"inproc://reg-pub-{name}",
            RouterEndpoint = $"inproc://reg-router-{name}",
            HeartbeatTimeout = heartbeatTimeout ?? TimeSpan.FromSeconds(15),
        });
        registry.Start();
        return registry;
    }

    private static RegistryDirectory Discover(ContextFixture fixture, string name, string service)
    {
        var discovery = new RegistryDirectory(fixture.Context);
        discovery.ConnectRegistry($"inproc://reg-pub-{name}");
        discovery.Subscribe(service);
        return discovery;
    }

    private static async Task<string> RegisterAsync(ServiceReceiver provider, string registry, string service, uint weight)
    {
        string advertised = provider.Bind("tcp://127.0.0.1:*");
        provider.ConnectRegistry($"inproc://reg-router-{registry}");
        await provider.RegisterAsync(service, advertised, weight, Guard.Token).Guarded();
        return advertised;
    }

    private static async Task WaitAsync(RegistryDirectory discovery, string service) =>
        await discovery.WaitForAsync(service, cancellationToken: Guard.Token).AsTask().WaitAsync(AppearLimit * 4, Guard.Token);
}
