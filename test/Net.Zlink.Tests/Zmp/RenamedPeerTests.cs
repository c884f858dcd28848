using System.Text;
using Net.Zlink.Monitoring;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Tests.Protocol.Zmp;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>A ROUTER's connect that is answered by a peer with another routing id than before, as after a restart.</summary>
public sealed class RenamedPeerTests
{
    private static readonly TimeSpan Soon = TimeSpan.FromMilliseconds(1);

    [Theory]
    [InlineData("tcp://127.0.0.1:*")]
    [InlineData("ws://127.0.0.1:*")]
    [SlowInlineData("ipc")]
    public async Task A_ROUTER_that_connects_sends_to_the_routing_id_of_the_restarted_peer_and_receives_from_it(string address)
    {
        string folder = Directory.CreateTempSubdirectory().FullName;
        address = string.Equals(address, "ipc", StringComparison.Ordinal) ? $"ipc://{folder}/socket" : address;
        await using var fixture = new ContextFixture();
        RouterSocket router = fixture.Context.CreateRouter(new RouterOptions { Mandatory = true, ReconnectInterval = Soon });
        string endpoint = address;
        foreach (string id in new[] { "B-1", "B-2", "B-3" })
        {
            await using RouterSocket peer = fixture.Context.CreateRouter(new RouterOptions { RoutingId = RoutingId.FromText(id) });
            bool isFirst = string.Equals(endpoint, address, StringComparison.Ordinal);
            await fixture.UntilAsync(() => IsBound(peer, ref endpoint));
            if (isFirst)
            {
                router.Connect(endpoint);
            }

            await fixture.UntilAsync(() => router.GetPeers() is [{ IsConnected: true } one] && one.RoutingId == RoutingId.FromText(id));
            await router.To(RoutingId.FromText(id)).SendAsync("question"u8.ToArray(), Guard.Token);
            using (Message question = await peer.ReceiveAsync(Guard.Token).Guarded())
            {
                await peer.To(question.RoutingId).SendAsync("answer"u8.ToArray(), Guard.Token);
            }

            using Message answer = await router.ReceiveAsync(Guard.Token).Guarded();
            Assert.Equal(RoutingId.FromText(id), answer.RoutingId);
            using EventReader monitor = router.ReadEvents(SocketEventTypes.Disconnected);
            await peer.DisposeAsync();
            await monitor.NextAsync(SocketEventTypes.Disconnected);
        }

        Directory.Delete(folder, recursive: true);
    }

    [Fact]
    public async Task The_former_routing_id_is_unroutable_and_its_unread_messages_keep_it()
    {
        await using var fixture = new ContextFixture();
        (RouterSocket router, RawListener listener) = await ConnectedAsync(fixture);
        using RawPeer second = await AnswerAsync(fixture, router, listener, "B2");
        await second.SendAsync(ZmpFixture.Frame(0, "new"u8));
        Assert.False(router.To("B1"u8).TrySend("x"u8).Tell(out SendFailure error));
        Assert.Equal(SendFailure.NoPeer, error);
        using Message old = await router.ReceiveAsync(Guard.Token).Guarded();
        using Message present = await router.ReceiveAsync(Guard.Token).Guarded();
        Assert.Equal(("B1", "old", "B2", "new"), (old.RoutingId.ToString(), old.GetString(), present.RoutingId.ToString(),
            present.GetString()));
    }

    [Fact]
    public async Task Messages_that_are_queued_for_the_connect_go_to_the_peer_that_answers_and_a_blocked_send_fails()
    {
        await using var fixture = new ContextFixture();
        (RouterSocket router, RawListener listener) = await ConnectedAsync(fixture);
        await router.To("B1"u8.ToArray()).SendAsync("queued"u8.ToArray(), Guard.Token);
        Task blocked = router.To("B1"u8.ToArray()).SendAsync("blocked"u8.ToArray(), Guard.Token).AsTask();
        Assert.False(blocked.IsCompleted);
        using RawPeer second = await AnswerAsync(fixture, router, listener, "B2");
        Assert.Equal(ZlinkError.HostUnreachable, (await Assert.ThrowsAsync<ZlinkException>(() => blocked.Guarded())).Error);
        await second.ReadAsync(ZmpFixture.Greeting((byte)ZmpSocketType.Router, "A"u8).Length);
        byte[] expected = ZmpFixture.Frame(0, "queued"u8);
        Assert.Equal(expected, await second.ReadAsync(expected.Length));
    }

    [Fact]
    public async Task A_routing_id_that_another_peer_has_is_refused_and_the_connect_keeps_its_former_one()
    {
        await using var fixture = new ContextFixture();
        (RouterSocket router, RawListener listener) = await ConnectedAsync(fixture);
        using RawPeer other = await fixture.ConnectAsync(router.Bind("tcp://127.0.0.1:*"));
        await other.SendAsync(ZmpFixture.Greeting((byte)ZmpSocketType.Dealer, "B2"u8));
        await fixture.UntilAsync(() => router.TryGetPeer(RoutingId.FromText("B2"), out _));
        using EventReader monitor = router.ReadEvents(SocketEventTypes.ConnectionRefused);
        using (RawPeer second = await listener.AcceptAsync())
        {
            await second.SendAsync(ZmpFixture.Greeting((byte)ZmpSocketType.Router, "B2"u8));
            Assert.Equal(listener.Endpoint, (await monitor.ReadAsync(Guard.Token).Guarded()).RemoteAddress);
        }

        using RawPeer third = await AnswerAsync(fixture, router, listener, "B1");
        Assert.True(router.To("B1"u8).TrySend("x"u8));
    }

    [Fact]
    public async Task A_peer_that_names_no_routing_id_keeps_the_name_of_the_connect()
    {
        await using var fixture = new ContextFixture();
        (RouterSocket router, RawListener listener) = await ConnectedAsync(fixture);
        using RawPeer second = await listener.AcceptAsync();
        await second.SendAsync(ZmpFixture.Greeting((byte)ZmpSocketType.Router, default));
        await fixture.UntilAsync(() => router.GetPeers() is [{ IsConnected: true }]);
        Assert.Equal("B1", router.GetPeers()[0].RoutingId.ToString());
    }

    private static bool IsBound(RouterSocket peer, ref string endpoint)
    {
        try
        {
            endpoint = peer.Bind(endpoint);
            return true;
        }
        catch (ZlinkException e) when (e.Error == ZlinkError.AddressInUse)
        {
            return false; // The last peer's socket is still being closed.
        }
    }

    /// <summary>A ROUTER whose connect B1 has answered. B1 has sent a message, which is unread, and is gone.</summary>
    private static async Task<(RouterSocket Router, RawListener Listener)> ConnectedAsync(ContextFixture fixture)
    {
        RouterSocket router = fixture.Context.CreateRouter(new RouterOptions
        {
            RoutingId = "A"u8.ToArray(),
            Mandatory = true,
            Linger = TimeSpan.Zero,
            SendHighWaterMark = 1,
            ReconnectInterval = Soon,
        });
        RawListener listener = fixture.Listen();
        router.Connect(listener.Endpoint);
        using EventReader monitor = router.ReadEvents(SocketEventTypes.Disconnected);
        using RawPeer first = await AnswerAsync(fixture, router, listener, "B1");
        await first.SendAsync(ZmpFixture.Frame(0, "old"u8));
        first.EndSending();
        await monitor.NextAsync(SocketEventTypes.Disconnected);
        return (router, listener);
    }

    private static async Task<RawPeer> AnswerAsync(ContextFixture fixture, RouterSocket router, RawListener listener, string id)
    {
        RawPeer peer = await listener.AcceptAsync();
        await peer.SendAsync(ZmpFixture.Greeting((byte)ZmpSocketType.Router, Encoding.ASCII.GetBytes(id)));
        await fixture.UntilAsync(() => router.GetPeers().Any(one => one.IsConnected && one.RoutingId == RoutingId.FromText(id)));
        return peer;
    }
}
