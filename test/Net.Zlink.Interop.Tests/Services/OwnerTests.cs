using Net.Zlink.Interop.Tests.Native;
using Net.Zlink.Interop.Tests.Peers;
using Net.Zlink.Interop.Tests.Support;
using Net.Zlink.Services;
using Xunit;

namespace Net.Zlink.Interop.Tests.Services;

/// <summary>What our registry lists of native receivers and SPOT nodes, which use up to three connections with one id.</summary>
public sealed class OwnerTests
{
    private const string Service = "svc";
    private const string Node = "spot-node";

    private static readonly TimeSpan s_minute = TimeSpan.FromSeconds(60);
    private static readonly TimeSpan s_atOnce = TimeSpan.FromSeconds(1);

    // A native node heartbeats each 5 s.
    private static readonly TimeSpan s_lease = TimeSpan.FromSeconds(6);

    [SlowNativeFact]
    public void A_native_receiver_stays_listed_for_a_minute()
    {
        using var scene = new ServiceScene();
        IRegistryRole registry = scene.AddRegistry(PeerKind.Managed);
        IGatewayRole gateway = scene.AddGateway(PeerKind.Managed, registry);
        IReceiverRole receiver = scene.AddReceiver(PeerKind.Native, "receiver", registry);
        receiver.Register(Service);
        gateway.UntilListed(Service, receiver.Listed());
        Assert.False(Limits.HappensWithin(s_minute, () => !gateway.Lists(Service, receiver.Listed())), "it was dropped");
    }

    [NativeFact]
    public void A_native_node_registers_heartbeats_unregisters_and_registers_again()
    {
        using var scene = new ServiceScene();
        IRegistryRole registry = scene.AddRegistry(PeerKind.Managed, scene.NewRegistryPlan() with { HeartbeatTimeout = s_lease });
        using var context = new ZlinkContext();
        using var discovery = new RegistryDirectory(context, ServiceKind.SpotNode);
        discovery.ConnectRegistry(registry.Publisher);
        using var node = new NativeSpotRole(scene.NewEndpoint(), isQueued: false);
        bool IsListed() => discovery.GetService(Node).Instances is [{ } instance]
            && string.Equals(instance.Endpoint, node.Endpoint, StringComparison.Ordinal);
        node.Join(registry);
        Limits.Until("it is listed", IsListed);
        Assert.False(Limits.HappensWithin(s_lease * 1.5, () => !IsListed()), "it was dropped");
        node.Unregister();
        Limits.Until("it has left", () => !IsListed());
        node.Register();
        Limits.Until("it is listed again", IsListed);
        Assert.False(Limits.HappensWithin(s_lease * 1.5, () => !IsListed()), "it was dropped after it came again");
    }

    /// <summary>The first one cannot say that it leaves: between it and the registry nothing is handed on any more.</summary>
    [NativeFact]
    public async Task A_killed_native_receiver_that_comes_back_on_its_port_under_another_id_and_unregisters_is_gone_within_a_second()
    {
        using var scene = new ServiceScene();
        IRegistryRole registry = scene.AddRegistry(PeerKind.Managed);
        IGatewayRole gateway = scene.AddGateway(PeerKind.Managed, registry);
        string endpoint = scene.NewEndpoint();
        await using (var relay = new TcpRelay(registry.Router))
        {
            using var killed = new NativeReceiverRole(endpoint, "first life", [relay.Endpoint], certificates: null);
            killed.Register(Service);
            gateway.UntilListed(Service, killed.Listed());
            relay.Freeze();
        }

        IReceiverRole restarted = scene.AddReceiverAt(PeerKind.Native, endpoint, "second life", registry);
        restarted.Register(Service);
        gateway.UntilListed(Service, restarted.Listed());
        restarted.Unregister(Service);
        Assert.True(Limits.HappensWithin(s_atOnce, () => gateway.Lists(Service)), "it is still listed");
    }

    /// <summary>Natively each program that sends by the listed id relies on it.</summary>
    [NativeFact]
    public void The_routing_id_of_a_native_receivers_router_set_before_it_connects_is_the_listed_one()
    {
        using var scene = new ServiceScene();
        IRegistryRole registry = scene.AddRegistry(PeerKind.Managed);
        IGatewayRole gateway = scene.AddGateway(PeerKind.Managed, registry);
        using var context = new NativeContext();
        using var receiver = new NativeReceiver(context);
        receiver.Router.SetOption(NativeOption.RoutingId, "set late"u8);
        string endpoint = receiver.Bind(scene.NewEndpoint());
        receiver.ConnectRegistry(registry.Router);
        receiver.Register(Service, endpoint);
        gateway.UntilListed(Service, new NativeReceiverInfo(endpoint, "set late"u8.ToArray(), 1));
    }

    [NativeTheory]
    [InlineData(PeerKind.Managed)]
    [InlineData(PeerKind.Native)]
    public async Task The_routing_id_of_our_receivers_socket_set_before_it_connects_is_the_listed_one(PeerKind registryKind)
    {
        using var scene = new ServiceScene();
        IRegistryRole registry = scene.AddRegistry(registryKind);
        IGatewayRole gateway = scene.AddGateway(PeerKind.Managed, registry);
        await using var context = new ZlinkContext();
        await using var receiver = new ServiceReceiver(context);
        receiver.Socket.Options.RoutingId = "set late"u8.ToArray();
        string endpoint = receiver.Bind(scene.NewEndpoint());
        receiver.ConnectRegistry(registry.Router);
        await receiver.RegisterAsync(Service, cancellationToken: Limits.Token);
        gateway.UntilListed(Service, new NativeReceiverInfo(endpoint, "set late"u8.ToArray(), 1));
    }
}
