using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Services.Tests.NativeBehaviour;

/// <summary>core/tests/discovery/test_gateway_handover.cpp, test by test and with its values.</summary>
public class GatewayHandoverTests
{
    [Fact]
    public async Task Gateway_handover_provider_restart()
    {
        await using var scene = new NativeGatewayScene();
        (ServiceReceiver first, ServiceRegistration registration) = await scene.AddReceiverAsync("ho-svc", "PROV-HO");
        ServiceClient client = scene.CreateGateway().GetClient("ho-svc");
        await NativeGatewayScene.SendAsync(client, "msg1");
        Assert.Equal("msg1", await NativeGatewayScene.ReceiveAsync(first));

        await registration.DisposeAsync().Guarded();
        await first.DisposeAsync().Guarded();
        await scene.Fixture.UntilAsync(() => client.ReadyCount == 0);
        (ServiceReceiver second, _) = await scene.AddReceiverAsync("ho-svc", "PROV-HO");
        await client.WaitUntilReadyAsync(1, Guard.Token).Guarded();
        await NativeGatewayScene.SendAsync(client, "msg2");

        Assert.Equal("msg2", await NativeGatewayScene.ReceiveAsync(second));
    }

    [Fact]
    public async Task Provider_handover_gateway_reconnect()
    {
        var options = new ServiceGatewayOptions { Socket = { RoutingId = RoutingId.FromText("GW-HO") } };
        await using var scene = new NativeGatewayScene();
        (ServiceReceiver receiver, _) = await scene.AddReceiverAsync("ho-svc2", "PROV-HO2");
        RegistryDirectory firstDiscovery = scene.CreateDiscovery("ho-svc2");
        ServiceGateway first = scene.CreateGateway(firstDiscovery, options);
        await NativeGatewayScene.SendAsync(first.GetClient("ho-svc2"), "gw-1");
        Assert.Equal("gw-1", await NativeGatewayScene.ReceiveAsync(receiver));

        await first.DisposeAsync().Guarded();
        await firstDiscovery.DisposeAsync().Guarded();
        ServiceGateway second = scene.CreateGateway(scene.CreateDiscovery("ho-svc2"), options);
        await NativeGatewayScene.SendAsync(second.GetClient("ho-svc2"), "gw-2");

        Assert.Equal("gw-2", await NativeGatewayScene.ReceiveAsync(receiver));
    }
}
