using Net.Zlink.Monitoring;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>A socket that connects to an endpoint of its own, as a node of a mesh does that connects to all of a list.</summary>
public sealed class SelfConnectTests
{
    public static TheoryData<string, string> Cases => new(
        from type in (string[])["PAIR", "DEALER", "ROUTER", "XPUB"]
        from endpoint in (
            string[])["tcp://127.0.0.1:0", "tcp://*:0", "ipc://*", "ws://127.0.0.1:0"]
        select (type, endpoint));

    [Theory]
    [MemberData(nameof(Cases))]
    public async Task A_socket_that_connects_to_itself_gets_no_peer(string type, string endpoint)
    {
        await using var fixture = new ContextFixture();
        ZmpSocket socket = type switch
        {
            "PAIR" => fixture.Context.CreatePair(),
            "DEALER" => fixture.Context.CreateDealer(),
            "ROUTER" => fixture.Context.CreateRouter(),
            _ => fixture.Context.CreateXPub(),
        };
        using EventReader monitor = socket.ReadEvents(
            SocketEventTypes.ConnectDelayed | SocketEventTypes.Connected | SocketEventTypes.ConnectRetried);
        string own = socket.Bind(endpoint);
        socket.Connect(own);
        Assert.Equal(0, socket.PeerCount);

        // Somebody else gets in, and is the only one.
        DealerSocket other = fixture.Context.CreateDealer();
        PairSocket pair = fixture.Context.CreatePair();
        SubSocket subscriber = fixture.Context.CreateSub();
        ZmpSocket peer = type switch { "PAIR" => pair, "XPUB" => subscriber, _ => other };
        peer.Connect(own);
        await fixture.UntilAsync(() => socket.GetPeers().Any(static p => p.IsConnected));
        Assert.Equal(1, socket.PeerCount);
        Assert.Equal((1, 0), (socket.GetStatistics().AcceptedConnections, socket.GetStatistics().DialledConnections));
        socket.Unbind(own);
        Assert.Equal(ZlinkError.NotFound, Assert.Throws<ZlinkException>(() => socket.Disconnect(own)).Error);
        Assert.False(monitor.TryRead(out _));
    }
}
