using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>A socket that unbinds and keeps its peers takes no new ones.</summary>
public sealed class UnbindKeepingPeersTests
{
    [Theory]
    [InlineData("tcp://127.0.0.1:*")]
    [InlineData("ipc://@net-zlink-drained")]
    [InlineData("inproc://drained")]
    [InlineData("ws://127.0.0.1:*/drained")]
    public async Task Peers_stay_in_both_directions_and_the_endpoint_is_free(string endpoint)
    {
        await using var fixture = new ContextFixture();
        RouterSocket server = fixture.Context.CreateRouter();
        string bound = server.Bind(endpoint);
        DealerSocket client = fixture.Context.CreateDealer();
        client.Connect(bound);
        await RoundTripAsync(server, client);
        server.Unbind(bound, keepPeers: true);
        Assert.Empty(server.BoundEndpoints);
        await RoundTripAsync(server, client);
        PeerInfo peer = Assert.Single(server.GetPeers());
        Assert.True(peer.IsConnected);
        RouterSocket successor = fixture.Context.CreateRouter();
        successor.Bind(bound);
        DealerSocket late = fixture.Context.CreateDealer();
        late.Connect(bound);
        await RoundTripAsync(successor, late);
        Assert.Single(server.GetPeers());
        Assert.Equal(ZlinkError.NotFound, Assert.Throws<ZlinkException>(() => server.Unbind(bound, keepPeers: true)).Error);
        Assert.Equal(ZlinkError.NotFound, Assert.Throws<ZlinkException>(() => server.Unbind(bound)).Error);
    }

    [Fact]
    public async Task A_peer_that_stayed_can_be_disconnected()
    {
        await using var fixture = new ContextFixture();
        RouterSocket server = fixture.Context.CreateRouter();
        DealerSocket client = fixture.Context.CreateDealer(new DealerOptions { ReconnectInterval = TimeSpan.Zero });
        string bound = server.Bind("tcp://127.0.0.1:*");
        client.Connect(bound);
        await RoundTripAsync(server, client);
        server.Unbind(bound, keepPeers: true);
        Assert.True(server.Disconnect(Assert.Single(server.GetPeers())));
        await fixture.UntilAsync(() => client.GetPeers().Count == 0);
    }

    [Fact]
    public async Task A_text_that_is_not_bound_is_refused_with_what_to_write()
    {
        await using var fixture = new ContextFixture();
        PairSocket pair = fixture.Context.CreatePair();
        Assert.Contains("is not bound", Assert.Throws<ZlinkException>(() => pair.Unbind("tcp://127.0.0.1:5", keepPeers: true)).Message,
            StringComparison.Ordinal);
        Assert.Equal(ZlinkError.InvalidArgument, Assert.Throws<ZlinkException>(() => pair.Unbind("no endpoint", keepPeers: true)).Error);
        Assert.Throws<ArgumentNullException>(() => pair.Unbind(null!, keepPeers: true));
        pair.Dispose();
        Assert.Throws<ObjectDisposedException>(() => pair.Unbind("tcp://127.0.0.1:5", keepPeers: true));
    }

    [Fact]
    public async Task Peers_of_a_stream_socket_stay_too()
    {
        await using var fixture = new ContextFixture();
        StreamSocket server = fixture.Context.CreateStream();
        StreamSocket client = fixture.Context.CreateStream();
        string bound = server.Bind("tcp://127.0.0.1:*");
        uint toServer = await client.ConnectAsync(bound, Guard.Token).AsTask().Guarded();
        uint fromClient = await server.NextConnectedAsync();
        server.Unbind(bound, keepPeers: true);
        await client.To(toServer).SendAsync("still here"u8.ToArray(), Guard.Token).AsTask().Guarded();
        Assert.Equal("still here"u8.ToArray(), await server.NextDataAsync(fromClient));
        ZlinkException refused = await Assert.ThrowsAsync<ZlinkException>(async () => await client.ConnectAsync(bound, Guard.Token));
        Assert.Equal(ZlinkError.ConnectionRefused, refused.Error);
        Assert.Equal((0, 1), (server.BoundEndpoints.Count, server.PeerCount));
    }

    private static async Task RoundTripAsync(RouterSocket server, DealerSocket client)
    {
        await client.SendAsync("ask"u8.ToArray(), Guard.Token).AsTask().Guarded();
        using Message ask = await server.ReceiveAsync(Guard.Token).AsTask().Guarded();
        await server.To(ask.RoutingId).SendAsync("answer"u8.ToArray(), Guard.Token).AsTask().Guarded();
        using Message answer = await client.ReceiveAsync(Guard.Token).AsTask().Guarded();
        Assert.Equal("answer"u8.ToArray(), answer.Memory.ToArray());
    }
}
