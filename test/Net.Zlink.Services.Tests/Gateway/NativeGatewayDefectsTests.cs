using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Services.Tests;

/// <summary>What a native gateway does wrong, and this one right. The list is in docs/native-differences.md.</summary>
public class NativeGatewayDefectsTests
{
    [Fact]
    public async Task The_routing_id_of_a_gateway_reaches_its_receivers()
    {
        await using var scene = new GatewayScene(new ServiceGatewayOptions { Socket = { RoutingId = RoutingId.FromText("the gateway") } });
        (RouterSocket socket, _) = await scene.AddRawAsync("one");
        Assert.True(scene.Client.TrySend("from"u8));
        using Message message = await socket.ReceiveAsync(Guard.Token).Guarded();
        Assert.True(message.RoutingId.Span.SequenceEqual("the gateway"u8));
    }
}
