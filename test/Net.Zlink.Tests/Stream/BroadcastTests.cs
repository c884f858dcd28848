using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Stream;

public sealed class BroadcastTests
{
    [Theory]
    [InlineData(0)]
    [InlineData(10)]
    [InlineData(100_000)]
    public async Task A_broadcast_reaches_all_that_are_named_and_nobody_else(int size)
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Bind(out string endpoint);
        var peers = new RawPeer[6];
        for (int i = 0; i < peers.Length; i++)
        {
            peers[i] = await fixture.ConnectAsync(endpoint);
            await socket.NextConnectedAsync();
        }

        byte[] payload = Wire.Pattern(size);
        Assert.Equal(5, socket.Broadcast([1, 2, 3, 4, 5, 99, 0], payload));
        Assert.Equal(0, socket.Broadcast([], payload));
        socket.To(6).Send([42]);
        for (int i = 0; i < 5; i++)
        {
            Wire.AssertSame(payload, (await peers[i].ReadFrameAsync())!);
        }

        Assert.Equal([42], (await peers[5].ReadFrameAsync())!);
    }

    [Fact]
    public async Task A_large_payload_is_encoded_once_for_all_peers()
    {
        const int Size = 500_000;
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Bind(out string endpoint, new StreamOptions { SendBufferSize = 16 * 1024 });
        uint[] ids = new uint[20];
        for (int i = 0; i < ids.Length; i++)
        {
            await fixture.ConnectAsync(endpoint, receiveBuffer: 16 * 1024);
            ids[i] = await socket.NextConnectedAsync();
        }

        // Nobody reads, so that all of them hold it at the same time.
        Assert.Equal(ids.Length, socket.Broadcast(ids, new byte[Size]));
        await fixture.Context.WhenIdleAsync().Guarded();
        Assert.Equal(ids.Length, socket.GetPeers().Sum(static peer => peer.GetStatistics().QueuedMessages));
        Assert.InRange(fixture.Pool.GetStatistics().BytesRented, Size, (2 * Size) + (2 * 256 * 1024));
    }

    [Fact]
    public async Task Peers_that_are_full_are_passed_over_and_counted_out()
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Bind(out string endpoint, new StreamOptions { SendHighWaterMark = 2, SendBufferSize = 16 * 1024 });
        await fixture.ConnectAsync(endpoint, receiveBuffer: 16 * 1024);
        uint slow = await socket.NextConnectedAsync();
        RawPeer reader = await fixture.ConnectAsync(endpoint);
        uint fast = await socket.NextConnectedAsync();
        socket.Fill(slow);
        Assert.Equal(1, socket.Broadcast([slow, fast], [7]));
        Assert.Equal([7], (await reader.ReadFrameAsync())!);
    }

    [Fact]
    public async Task Broadcasts_keep_their_place_among_other_sends_to_a_peer()
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Bind(out string endpoint);
        RawPeer peer = await fixture.ConnectAsync(endpoint);
        uint id = await socket.NextConnectedAsync();
        for (int i = 0; i < 200; i++)
        {
            byte[] payload = Wire.Pattern(i % 3 == 0 ? 20_000 : 20, i);
            if (i % 2 == 0)
            {
                Assert.Equal(1, socket.Broadcast([id], payload));
            }
            else
            {
                Assert.True(socket.To(id).TrySend(payload));
            }
        }

        for (int i = 0; i < 200; i++)
        {
            Wire.AssertSame(Wire.Pattern(i % 3 == 0 ? 20_000 : 20, i), (await peer.ReadFrameAsync())!);
        }
    }

    [Fact]
    public async Task A_broadcast_after_the_end_of_the_context_reaches_no_peer_and_throws_nothing()
    {
        var context = new ZlinkContext();
        StreamSocket socket = context.CreateStream();
        using RawPeer peer = await RawPeer.ConnectAsync(socket.Bind("tcp://127.0.0.1:0"));
        uint id = await socket.NextConnectedAsync();
        Assert.Equal(1, socket.Broadcast([id], "x"u8));
        peer.Dispose();
        await context.DisposeAsync();
        Assert.Equal(0, socket.Broadcast([id], "x"u8));
        Assert.False(socket.To(id).TrySend("x"u8).Tell(out SendFailure error));
        Assert.Equal(SendFailure.NoPeer, error);
    }
}
