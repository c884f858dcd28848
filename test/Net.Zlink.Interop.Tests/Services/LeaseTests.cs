using Net.Zlink.Interop.Tests.Peers;
using Net.Zlink.Interop.Tests.Support;
using Xunit;

namespace Net.Zlink.Interop.Tests.Services;

/// <summary>Registrations live as long as their receivers, and registries that return are believed.</summary>
public sealed class LeaseTests
{
    private const string Service = "svc";

    // Heartbeats come every 5 s, natively without an option.
    private static readonly TimeSpan s_lease = TimeSpan.FromSeconds(6);
    private static readonly TimeSpan s_twoLeases = TimeSpan.FromSeconds(13);

    [NativeTheory]
    [InlineData(PeerKind.Managed, PeerKind.Native)]
    [InlineData(PeerKind.Native, PeerKind.Managed)]
    public void A_receiver_that_heartbeats_stays_listed_after_two_lease_times(PeerKind registryKind, PeerKind receiverKind)
    {
        using var scene = new ServiceScene();
        IRegistryRole registry = scene.AddRegistry(registryKind, scene.NewRegistryPlan() with { HeartbeatTimeout = s_lease });
        IGatewayRole gateway = scene.AddGateway(PeerKind.Managed, registry);
        IReceiverRole receiver = scene.AddReceiver(receiverKind, "receiver", registry);
        receiver.Register(Service);
        gateway.UntilListed(Service, receiver.Listed());
        Assert.False(Limits.HappensWithin(s_twoLeases, () => !gateway.Lists(Service, receiver.Listed())), "it was dropped");
    }

    /// <summary>The control of the test above: natively the heartbeats of a receiver are refused, for they come on a second connection with
    /// the same routing id.</summary>
    [NativeFact]
    public void A_native_receiver_is_dropped_by_a_native_registry()
    {
        using var scene = new ServiceScene();
        IRegistryRole registry = scene.AddRegistry(PeerKind.Native, scene.NewRegistryPlan() with { HeartbeatTimeout = s_lease });
        IGatewayRole gateway = scene.AddGateway(PeerKind.Managed, registry);
        IReceiverRole receiver = scene.AddReceiver(PeerKind.Native, "receiver", registry);
        receiver.Register(Service);
        gateway.UntilListed(Service, receiver.Listed());
        Assert.True(Limits.HappensWithin(s_twoLeases, () => gateway.Lists(Service)), "it is still listed");
    }

    [NativeTheory]
    [InlineData(PeerKind.Managed)]
    [InlineData(PeerKind.Native)]
    public void Our_receivers_register_again_at_a_registry_that_was_started_again(PeerKind registryKind)
    {
        using var scene = new ServiceScene();
        RegistryPlan plan = scene.NewRegistryPlan(id: 7);
        IRegistryRole registry = scene.AddRegistry(registryKind, plan);
        IReceiverRole receiver = scene.AddReceiver(PeerKind.Managed, "receiver", registry);
        receiver.Register(Service);
        scene.End(registry);
        registry = scene.AddRegistry(registryKind, plan);
        IGatewayRole gateway = scene.AddGateway(PeerKind.Managed, registry);
        gateway.UntilListed(Service, receiver.Listed());
        gateway.UntilReady(Service, 1);
    }

    /// <summary>A native discovery drops lists with a number that it has seen; ours continues with the clock.</summary>
    [NativeFact]
    public void A_native_discovery_believes_our_registry_that_was_started_again()
    {
        using var scene = new ServiceScene();
        RegistryPlan plan = scene.NewRegistryPlan(id: 7);
        IRegistryRole registry = scene.AddRegistry(PeerKind.Managed, plan);
        IGatewayRole gateway = scene.AddGateway(PeerKind.Native, registry);
        IReceiverRole receiver = scene.AddReceiver(PeerKind.Managed, "receiver", registry);
        receiver.Register(Service, weight: 2);
        gateway.UntilListed(Service, receiver.Listed(2));
        scene.End(registry);
        scene.AddRegistry(PeerKind.Managed, plan);
        receiver.UpdateWeight(Service, 5); // Else nothing shows which of the two a list came from.
        gateway.UntilListed(Service, receiver.Listed(5));
    }
}
