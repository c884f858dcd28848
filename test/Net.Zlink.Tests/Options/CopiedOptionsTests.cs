using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Options;

public sealed class CopiedOptionsTests
{
    [Fact]
    public async Task A_copy_is_for_another_socket_and_keeps_what_was_set_until_then()
    {
        await using var fixture = new ContextFixture();
        var options = new XPubOptions { SendHighWaterMark = 3, Tls = { CaFile = "ca.pem" }, WebSocket = { AllowedPaths = { "/a" } } };
        XPubSocket socket = fixture.Own(fixture.Context.CreateXPub(options));
        XPubOptions copy = socket.Options.Copy();
        socket.Options.Tls.CaFile = "other.pem";
        socket.Options.WebSocket.AllowedPaths.Add("/b");
        XPubSocket second = fixture.Own(fixture.Context.CreateXPub(copy));
        Assert.Equal((3, "ca.pem"), (second.Options.SendHighWaterMark, second.Options.Tls.CaFile));
        Assert.Equal(["/a"], second.Options.WebSocket.AllowedPaths, StringComparer.Ordinal);
        Assert.NotEqual(socket.Options.RoutingId, second.Options.RoutingId);
    }

    [Fact]
    public void A_copy_has_the_routing_id_that_was_set()
    {
        RouterOptions copy = new RouterOptions { RoutingId = RoutingId.FromText("mine") }.Copy();
        Assert.Equal(RoutingId.FromText("mine"), copy.RoutingId);
    }
}
