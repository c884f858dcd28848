using Net.Zlink.Monitoring;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Stream;

/// <summary>Binding and unbinding, several endpoints of one socket, and the cap on connections.</summary>
public sealed class EndpointTests
{
    [Fact]
    public async Task Bind_returns_the_numeric_endpoint_with_the_real_port()
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Context.CreateStream();
        Assert.Equal("", socket.LastEndpoint);
        string first = socket.Bind("tcp://localhost:*");
        Assert.StartsWith("tcp://127.0.0.1:", first, StringComparison.Ordinal);
        Assert.NotEqual(0, RawPeer.AddressOf(first).Port);
        Assert.Equal(first, socket.LastEndpoint);
        string second = socket.Bind("tcp://*:0");
        Assert.StartsWith("tcp://0.0.0.0:", second, StringComparison.Ordinal);
        Assert.Equal(second, socket.LastEndpoint);
    }

    [Fact]
    public async Task A_STREAM_socket_serves_pulled_pushed_and_raw_endpoints_with_ids_of_one_sequence()
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Bind(out string pulled);
        string pushed = socket.Bind("tcp://127.0.0.1:0", TestHandler.Echo());
        string raw = socket.BindPipe("tcp://127.0.0.1:0",
            static async pipe => await pipe.Output.WriteAsync(new[] { (byte)pipe.Id }, Guard.Token));
        await fixture.ConnectAsync(pulled);
        Assert.Equal(1u, await socket.NextConnectedAsync());
        RawPeer second = await fixture.ConnectAsync(pushed);
        await second.SendFrameAsync(2);
        Assert.Equal([2], (await second.ReadFrameAsync())!);
        RawPeer third = await fixture.ConnectAsync(raw);
        Assert.Equal([3], await third.ReadToEndAsync());
        socket.To(2).Send([22]);
        Assert.Equal([22], (await second.ReadFrameAsync())!);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task Unbind_ends_the_peers_of_that_endpoint_only_and_frees_the_address(bool byResolvedText)
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Context.CreateStream();
        string given = RawListener.FreeAtLoopback().Replace("127.0.0.1", "localhost", StringComparison.Ordinal);
        string endpoint = socket.Bind(given);
        string other = socket.Bind("tcp://127.0.0.1:0");
        RawPeer gone = await fixture.ConnectAsync(endpoint);
        uint goneId = await socket.NextConnectedAsync();
        RawPeer stays = await fixture.ConnectAsync(other);
        uint staysId = await socket.NextConnectedAsync();

        socket.To(goneId).Send([1]);
        socket.Unbind(byResolvedText ? endpoint : given);
        Assert.Equal((goneId, DisconnectReason.Local), await socket.NextDisconnectedAsync());
        Assert.Equal(Wire.Frame([1]), await gone.ReadToEndAsync());
        await stays.SendFrameAsync(2);
        Assert.Equal([2], await socket.NextDataAsync(staysId));
        Assert.Equal(ZlinkError.NotFound, Assert.Throws<ZlinkException>(() => socket.Unbind(endpoint)).Error);

        gone.Dispose();
        await Assert.ThrowsAsync<System.Net.Sockets.SocketException>(() => RawPeer.ConnectAsync(endpoint));
        Assert.Equal(endpoint, socket.Bind(given));
    }

    [Fact]
    public async Task Connections_over_the_cap_are_refused_with_an_event_and_a_count_until_there_is_room()
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Bind(out string endpoint, new StreamOptions { MaxConnections = 2 });
        using EventReader monitor = socket.ReadEvents();
        RawPeer first = await fixture.ConnectAsync(endpoint);
        Assert.Equal(1u, await socket.NextConnectedAsync());
        await fixture.ConnectAsync(endpoint);
        Assert.Equal(2u, await socket.NextConnectedAsync());

        RawPeer refused = await fixture.ConnectAsync(endpoint);
        Assert.Empty(await refused.ReadToEndAsync());
        SocketEvent one = await monitor.NextAsync(SocketEventTypes.ConnectionRefused);
        Assert.Equal((endpoint, refused.LocalAddress, 0u), (one.LocalAddress, one.RemoteAddress, one.PeerId));
        Assert.Contains("raise MaxConnections", one.Detail, StringComparison.Ordinal);
        Assert.Equal((3L, 1L), (socket.GetStatistics().AcceptedConnections, socket.GetStatistics().RefusedConnections));
        Assert.False(socket.TryReceive(out _));

        first.EndSending();
        Assert.Empty(await first.ReadToEndAsync());
        Assert.Equal(1u, (await socket.NextDisconnectedAsync()).PeerId);
        await fixture.UntilAsync(() => socket.GetStatistics().ClosedConnections == 1);
        await fixture.ConnectAsync(endpoint);
        Assert.Equal(3u, await socket.NextConnectedAsync()); // a refused one used no id
    }

    [Fact]
    public async Task The_cap_holds_to_the_one_when_several_endpoints_accept_at_once()
    {
        const int Endpoints = 8;
        const int Room = 4;
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Context.CreateStream(new StreamOptions { MaxConnections = Room });
        string[] endpoints = [.. Enumerable.Range(0, Endpoints).Select(_ => socket.Bind("tcp://127.0.0.1:0"))];
        await Task.WhenAll(endpoints.SelectMany(e => Enumerable.Range(0, Endpoints).Select(_ => fixture.ConnectAsync(e))));
        await fixture.UntilAsync(() => socket.GetStatistics().AcceptedConnections == Endpoints * Endpoints
            && socket.GetStatistics().RefusedConnections + socket.PeerCount == Endpoints * Endpoints);
        Assert.Equal(Room, socket.PeerCount);
    }

    [Fact]
    public async Task Sockets_that_all_ask_for_it_share_an_address()
    {
        Assert.SkipWhen(OperatingSystem.IsWindows(), "sharing spreads connections on POSIX systems only");
        await using var fixture = new StreamFixture();
        StreamSocket first = fixture.Bind(out string endpoint, new StreamOptions { ShareAddress = true });
        StreamSocket second = fixture.Context.CreateStream(new StreamOptions { ShareAddress = true });
        Assert.Equal(endpoint, second.Bind(endpoint));
        StreamSocket alone = fixture.Context.CreateStream();
        Assert.Equal(ZlinkError.AddressInUse, Assert.Throws<ZlinkException>(() => alone.Bind(endpoint)).Error);
        for (int i = 0; i < 20; i++)
        {
            await fixture.ConnectAsync(endpoint);
        }

        await fixture.UntilAsync(() => first.PeerCount + second.PeerCount == 20);
    }

    [Fact]
    public async Task Messages_read_from_peers_of_an_unbound_endpoint_are_still_received()
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Bind(out string endpoint);
        RawPeer peer = await fixture.ConnectAsync(endpoint);
        for (byte i = 0; i < 10; i++)
        {
            await peer.SendFrameAsync(i);
        }

        await fixture.UntilAsync(() => socket.GetStatistics().UnreadMessages >= 10);
        socket.Unbind(endpoint);
        await fixture.UntilAsync(() => socket.PeerCount == 0);
        uint id = await socket.NextConnectedAsync();
        for (byte i = 0; i < 10; i++)
        {
            Assert.Equal([i], await socket.NextDataAsync(id));
        }

        Assert.Equal((id, Net.Zlink.Monitoring.DisconnectReason.Local), await socket.NextDisconnectedAsync());
        Assert.Equal(0, socket.GetStatistics().DroppedUnreadMessages);
    }
}
