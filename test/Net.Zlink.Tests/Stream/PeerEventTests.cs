using System.Buffers;
using Net.Zlink.Monitoring;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Stream;

public sealed class PeerEventTests
{
    [Fact]
    public async Task Ids_count_1_2_3_in_order_of_arrival_and_are_not_used_again()
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Bind(out string endpoint);
        for (uint expected = 1; expected <= 5; expected++)
        {
            RawPeer peer = await fixture.ConnectAsync(endpoint);
            Assert.Equal(expected, await socket.NextConnectedAsync());
            peer.Reset();
            Assert.Equal(expected, (await socket.NextDisconnectedAsync()).PeerId);
        }

        Assert.Equal(0, socket.PeerCount);
    }

    [Fact]
    public async Task A_peers_connect_comes_before_its_data_and_its_disconnect_behind_it()
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Bind(out string endpoint);
        RawPeer peer = await fixture.ConnectAsync(endpoint);
        await peer.SendAsync(Wire.Frames([1], [2], [3]));
        peer.EndSending();
        Assert.Empty(await peer.ReadToEndAsync()); // our end: by now all of it is in the queue

        uint id = await socket.NextConnectedAsync();
        Assert.Equal([1], await socket.NextDataAsync(id));
        Assert.Equal([2], await socket.NextDataAsync(id));
        Assert.Equal([3], await socket.NextDataAsync(id));
        Assert.Equal((id, DisconnectReason.Remote), await socket.NextDisconnectedAsync());
    }

    [Fact]
    public async Task Events_of_a_peer_take_its_turn_behind_the_data_of_peers_that_came_before()
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Bind(out string endpoint);
        RawPeer first = await fixture.ConnectAsync(endpoint);
        uint firstId = await socket.NextConnectedAsync();
        await first.SendAsync(Wire.Frames([1], [2]));
        await fixture.UntilAsync(() => socket.GetStatistics().UnreadMessages == 2);
        RawPeer second = await fixture.ConnectAsync(endpoint);
        second.EndSending();
        Assert.Empty(await second.ReadToEndAsync());

        Assert.Equal([1], await socket.NextDataAsync(firstId));
        Assert.Equal([2], await socket.NextDataAsync(firstId));
        uint secondId = await socket.NextConnectedAsync();
        Assert.NotEqual(firstId, secondId);
        Assert.Equal(secondId, (await socket.NextDisconnectedAsync()).PeerId);
    }

    [Fact]
    public async Task An_unknown_id_is_HostUnreachable_in_every_form()
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Bind(out string endpoint);
        await fixture.ConnectAsync(endpoint);
        await socket.NextConnectedAsync();
        using IMemoryOwner<byte> payload = fixture.Pool.Rent(1); // No send takes it.
        foreach (uint id in (uint[])[0, 2, uint.MaxValue])
        {
            Assert.False(socket.To(id).TrySend([1]));
            Assert.False(socket.To(id).TrySend([1]).Tell(out SendFailure error));
            Assert.Equal(SendFailure.NoPeer, error);
            ZlinkException thrown = Assert.Throws<ZlinkException>(() => socket.To(id).Send([1]));
            Assert.Equal(ZlinkError.HostUnreachable, thrown.Error);
            Assert.Contains("HostUnreachable", thrown.Message, StringComparison.Ordinal);
            thrown = await Assert.ThrowsAsync<ZlinkException>(() => socket.To(id).SendAsync(new byte[1], Guard.Token).Guarded());
            Assert.Equal(ZlinkError.HostUnreachable, thrown.Error);
            thrown = await Assert.ThrowsAsync<ZlinkException>(() => socket.To(id).SendAsync(payload, 1, Guard.Token).Guarded());
            Assert.Equal(ZlinkError.HostUnreachable, thrown.Error);
            Assert.Equal(0, socket.Broadcast([id], [1]));
            Assert.False(socket.Disconnect(id));
            Assert.False(socket.TryGetPeer(id, out _));
        }
    }

    [Fact]
    public async Task Disconnect_invalidates_the_id_at_once_drops_what_is_unread_and_flushes_what_was_accepted()
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Bind(out string endpoint);
        RawPeer peer = await fixture.ConnectAsync(endpoint);
        uint id = await socket.NextConnectedAsync();
        await peer.SendAsync(Wire.Frames([1], [2], [3]));
        Assert.Equal([1], await socket.NextDataAsync(id));
        await fixture.UntilAsync(() => socket.GetStatistics().UnreadMessages == 2);
        byte[] answer = Wire.Pattern(1024 * 1024);
        socket.To(id).Send(answer);

        Assert.True(socket.Disconnect(id));
        Assert.False(socket.Disconnect(id));
        Assert.Equal(0, socket.PeerCount);
        Assert.False(socket.To(id).TrySend([1]).Tell(out SendFailure error));
        Assert.Equal(SendFailure.NoPeer, error);
        Assert.Equal((id, DisconnectReason.Local), await socket.NextDisconnectedAsync());
        Assert.False(socket.TryReceive(out _));
        Assert.Equal(2, socket.GetStatistics().DroppedUnreadMessages);
        Wire.AssertSame(Wire.Frame(answer), await peer.ReadToEndAsync());
    }

    [Fact]
    public async Task Data_that_arrives_after_Disconnect_is_dropped()
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Bind(out string endpoint);
        RawPeer peer = await fixture.ConnectAsync(endpoint);
        uint id = await socket.NextConnectedAsync();
        Assert.True(socket.Disconnect(id));
        await peer.SendFrameAsync(1);
        Assert.Empty(await peer.ReadToEndAsync());
        peer.Dispose();
        Assert.Equal((id, DisconnectReason.Local), await socket.NextDisconnectedAsync());
        await fixture.UntilAsync(() => socket.GetStatistics().ClosedConnections == 1);
        Assert.False(socket.TryReceive(out _));
    }

    [Fact]
    public async Task A_silent_peer_stays_and_holds_no_buffer()
    {
        await using var fixture = new StreamFixture(shards: 1);
        StreamSocket socket = fixture.Bind(out string endpoint);
        for (int i = 0; i < 50; i++)
        {
            await fixture.ConnectAsync(endpoint);
            await socket.NextConnectedAsync();
        }

        await fixture.Context.WhenIdleAsync().Guarded();
        Assert.Equal(50, socket.PeerCount);
        Assert.InRange(fixture.Pool.GetStatistics().Live, 0, 1); // the shard's own slab
    }
}
