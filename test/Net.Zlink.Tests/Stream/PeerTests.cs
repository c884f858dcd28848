using System.Globalization;
using System.Net;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Stream;

public sealed class PeerTests
{
    [Fact]
    public async Task Describe_tells_of_the_socket_and_of_each_peer()
    {
        await using var fixture = new StreamFixture();
        StreamSocket server = fixture.Bind(out string endpoint);
        StreamSocket client = fixture.Context.CreateStream();
        uint there = await client.ConnectAsync(endpoint, Guard.Token).Guarded();
        uint here = await server.NextConnectedAsync();
        client.To(there).Send("one"u8);
        client.To(there).Send("two"u8);
        await fixture.UntilAsync(() => server.GetStatistics().ReceivedMessages == 2 && client.GetStatistics().WrittenMessages == 2);
        string text = server.Describe();
        Assert.Contains($"  bound: {endpoint}; connects to: nothing", text, StringComparison.Ordinal);
        Assert.Contains("connections: 1 accepted, 0 dialled", text, StringComparison.Ordinal);
        Assert.Contains("received: 2 read = 0 delivered + 0 dropped + 2 unread", text, StringComparison.Ordinal);
        Assert.Contains($"    peer {here} (tcp://127.0.0.1:", text, StringComparison.Ordinal);
        Assert.Contains("sent: 2 accepted = 2 written + 0 dropped (0 obsolete) + 0 queued", client.Describe(), StringComparison.Ordinal);
        Assert.Contains($"by {endpoint}: connected, sent 2, to send 0 (0 bytes), received 0, unread 0", client.Describe(),
            StringComparison.Ordinal);
        server.Dispose();
        Assert.StartsWith("STREAM, closed", server.Describe(), StringComparison.Ordinal);
    }

    [Fact]
    public async Task How_long_ago_a_peer_was_last_read_and_last_written_to_is_told_by_the_contexts_clock()
    {
        var clock = new ManualTimeProvider();
        await using var fixture = new StreamFixture(time: clock);
        StreamSocket socket = fixture.Bind(out string endpoint);
        clock.Advance(TimeSpan.FromHours(1)); // Nobody had come by then.
        RawPeer raw = await fixture.ConnectAsync(endpoint);
        uint id = await socket.NextConnectedAsync();
        Assert.True(socket.TryGetPeer(id, out StreamPeer? peer));
        AssertAgo(read: 0, written: 0);
        clock.Advance(TimeSpan.FromMilliseconds(250));
        AssertAgo(read: 250, written: 250);
        await raw.SendFrameAsync(1);
        await fixture.UntilAsync(() => peer.GetStatistics().ReceivedMessages == 1);
        AssertAgo(read: 0, written: 250);
        clock.Advance(TimeSpan.FromSeconds(3));
        Assert.True(peer.TrySend([2]));
        await raw.ReadFrameAsync();
        await fixture.UntilAsync(() => peer.GetStatistics().WrittenMessages == 1);
        AssertAgo(read: 3_000, written: 0);

        void AssertAgo(int read, int written)
        {
            PeerStatistics one = peer.GetStatistics();
            Assert.Equal((TimeSpan.FromMilliseconds(read), TimeSpan.FromMilliseconds(written)), (one.SinceLastRead, one.SinceLastWrite));
            Assert.Contains(string.Create(CultureInfo.InvariantCulture, $", last read {read} ms ago, last write {written} ms ago"),
                socket.Describe(), StringComparison.Ordinal);
        }
    }

    [Fact]
    public async Task A_peer_keeps_the_applications_state_and_is_the_same_object_everywhere()
    {
        await using var fixture = new StreamFixture();
        var seen = new TaskCompletionSource<object?>(TaskCreationOptions.RunContinuationsAsynchronously);
        var handler = new TestHandler
        {
            Connected = static peer => peer.UserState = $"session {peer.Id}",
            Received = (peer, _) =>
            {
                seen.TrySetResult(peer.UserState);
                return ValueTask.CompletedTask;
            },
        };
        StreamSocket socket = fixture.Bind(handler, out string endpoint);
        RawPeer raw = await fixture.ConnectAsync(endpoint);
        StreamPeer peer = await handler.NextConnectedAsync();
        await raw.SendFrameAsync(1);
        Assert.Equal("session 1", await seen.Task.Guarded());
        Assert.True(socket.TryGetPeer(1, out StreamPeer? found));
        Assert.Same(peer, found);
        Assert.Same(peer, Assert.Single(socket.GetPeers()));
        raw.EndSending();
        (StreamPeer ended, _) = await handler.NextDisconnectedAsync();
        Assert.Same(peer, ended);
        Assert.Equal("session 1", ended.UserState);
        Assert.False(peer.TrySend([1]));
        ZlinkException thrown = await Assert.ThrowsAsync<ZlinkException>(() => peer.SendAsync(new byte[1], Guard.Token).Guarded());
        Assert.Equal(ZlinkError.HostUnreachable, thrown.Error);
        peer.Disconnect();
        peer.Disconnect(abort: true);
    }

    [Fact]
    public async Task A_peer_knows_its_addresses_and_endpoint()
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Bind(out string endpoint);
        RawPeer raw = await fixture.ConnectAsync(endpoint);
        uint id = await socket.NextConnectedAsync();
        Assert.True(socket.TryGetPeer(id, out StreamPeer? peer));
        Assert.Equal(raw.Socket.LocalEndPoint, peer.RemoteEndPoint);
        Assert.Equal(raw.Socket.RemoteEndPoint, peer.LocalEndPoint);
        Assert.Equal(endpoint, peer.Endpoint);
        Assert.Equal($"peer {id} ({raw.LocalAddress})", peer.ToString());
    }

    [Fact]
    public async Task IPv6_peers_are_served_where_the_option_allows_it()
    {
        Assert.SkipUnless(System.Net.Sockets.Socket.OSSupportsIPv6, "this machine has no IPv6");
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Context.CreateStream(new StreamOptions { IPv6 = true });
        string endpoint = socket.Bind("tcp://[::1]:0", TestHandler.Echo());
        Assert.StartsWith("tcp://[::1]:", endpoint, StringComparison.Ordinal);
        Assert.Equal(endpoint, socket.LastEndpoint);
        RawPeer raw = await fixture.ConnectAsync(endpoint);
        await raw.SendFrameAsync(6);
        Assert.Equal([6], (await raw.ReadFrameAsync())!);

        StreamSocket client = fixture.Context.CreateStream(new StreamOptions { IPv6 = true });
        uint id = await client.ConnectAsync(endpoint, Guard.Token).Guarded();
        await client.NextConnectedAsync();
        client.To(id).Send([66]);
        Assert.Equal([66], await client.NextDataAsync(id));
    }

    [Fact]
    public async Task A_dual_stack_wildcard_serves_IPv4_and_IPv6()
    {
        Assert.SkipUnless(System.Net.Sockets.Socket.OSSupportsIPv6, "this machine has no IPv6");
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Context.CreateStream(new StreamOptions { IPv6 = true });
        int port = RawPeer.AddressOf(socket.Bind("tcp://*:0", TestHandler.Echo())).Port;
        foreach (IPAddress address in (IPAddress[])[IPAddress.Loopback, IPAddress.IPv6Loopback])
        {
            RawPeer raw = await fixture.ConnectAsync($"tcp://{new IPEndPoint(address, port)}");
            await raw.SendFrameAsync(46);
            Assert.Equal([46], (await raw.ReadFrameAsync())!);
        }
    }
}
