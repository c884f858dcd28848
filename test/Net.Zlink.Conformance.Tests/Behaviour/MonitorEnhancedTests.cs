using Net.Zlink.Conformance.Tests.Behaviour.Fixtures;
using Net.Zlink.Monitoring;
using Net.Zlink.Porting;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Conformance.Tests.Behaviour;

/// <summary>As the native monitoring/test_monitor_enhanced: own ids, events with ids and addresses, and the list of peers.</summary>
public sealed class MonitorEnhancedTests
{
    [Fact]
    public async Task A_fresh_socket_of_every_type_but_STREAM_has_an_id_of_16_bytes()
    {
        await using var fixture = new StreamFixture();
        ZlinkContext context = fixture.Context;
        ZmpSocket[] sockets =
        [
            context.CreatePair(), context.CreatePub(), context.CreateSub(), context.CreateDealer(), context.CreateRouter(),
                context.CreateXPub(), context.CreateXSub(),
        ];
        Assert.All(sockets, static socket => Assert.Equal(16, socket.Options.RoutingId.Length));
        Assert.Equal(sockets.Length, sockets.Select(static s => Convert.ToHexString(s.Options.RoutingId.Span))
            .Distinct(StringComparer.Ordinal).Count());
    }

    [Fact]
    public async Task A_STREAM_has_no_id_of_its_own_to_ask_for()
    {
        const int RoutingId = 5;
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Context.CreateStream();
        byte[] id = new byte[255];
        SocketWords.Fails("EOPNOTSUPP", () => NativeOptions.Get(socket, RoutingId, id)); // natively 16 bytes that never leave the process
    }

    [Fact]
    public async Task Events_name_the_peer_and_its_address()
    {
        await using var fixture = new StreamFixture();
        RouterSocket server = fixture.Context.CreateRouter();
        string endpoint = server.Bind(Link.Any(Link.Tcp));
        using EventReader monitor = server.ReadEvents(NativeEvents.All);
        DealerSocket client = fixture.Context.CreateDealer();
        client.Connect(endpoint);
        Assert.Equal(SocketEventTypes.Accepted, (await monitor.NextAsync()).Type);
        SocketEvent ready = await monitor.NextAsync();
        Assert.Equal(SocketEventTypes.ConnectionReady, ready.Type);
        Assert.Equal(client.Options.RoutingId.ToArray(), ready.RoutingId.ToArray());
        Assert.Equal(endpoint, ready.LocalAddress);
        Assert.StartsWith("tcp://127.0.0.1:", ready.RemoteAddress, StringComparison.Ordinal);
        client.Dispose();
        SocketEvent gone = await monitor.NextAsync();
        Assert.Equal((SocketEventTypes.Disconnected, 4L, ready.RemoteAddress), (gone.Type, gone.ToNativeValue(), gone.RemoteAddress));
        server.Dispose();
        Assert.Equal([SocketEventTypes.Closed, SocketEventTypes.MonitorStopped], await monitor.NextAsync(2));
    }

    [Theory]
    [MemberData(nameof(Link.All), MemberType = typeof(Link))]
    public async Task Peers_are_listed_with_their_ids_and_counts(string transport)
    {
        await using var fixture = new StreamFixture();
        RouterSocket server = fixture.Context.CreateRouter();
        DealerSocket client = fixture.Context.CreateDealer();
        client.Connect(server.Bind(Link.Any(transport)));
        client.Say("one");
        client.Say("two", "parts");
        (byte[] id, _) = await server.HearFromAsync();
        await server.HearFromAsync();
        server.SayTo(id, "reply");
        Assert.Equal("reply", await client.HearOneAsync());
        Assert.Equal(1, server.PeerCount);
        await fixture.UntilAsync(() => server.GetPeers().Single().MessagesSent == 1);
        PeerInfo peer = Assert.Single(server.GetPeers());
        Assert.Equal(id, peer.RoutingId.ToArray());
        Assert.Equal((2L, 1L, 0L), (peer.MessagesReceived, peer.MessagesSent, peer.Unread.Messages));
        Assert.True(peer.IsConnected);
        Assert.NotNull(peer.ConnectedAt);
        Assert.StartsWith(transport is Link.Tcp ? "tcp://127.0.0.1:" : transport is Link.Ipc ? "ipc://" : "", peer.RemoteAddress,
            StringComparison.Ordinal);
        client.Dispose();
        await fixture.UntilAsync(() => server.PeerCount == 0);
        Assert.Empty(server.GetPeers());
    }

    [Fact]
    public async Task A_peer_that_is_not_connected_yet_is_listed_too()
    {
        await using var fixture = new StreamFixture();
        DealerSocket client = fixture.Context.CreateDealer(new DealerOptions { Linger = TimeSpan.Zero });
        string endpoint = RawListener.NobodyListens();
        client.Connect(endpoint);
        PeerInfo peer = Assert.Single(client.GetPeers());
        Assert.Equal((endpoint, false, 0), (peer.Endpoint, peer.IsConnected, peer.RoutingId.Length));
        Assert.Null(peer.ConnectedAt);
        client.Dispose();
    }
}
