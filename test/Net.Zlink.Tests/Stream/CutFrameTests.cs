using Net.Zlink.Monitoring;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Stream;

public sealed class CutFrameTests
{
    [Fact]
    public async Task Frames_cut_at_any_byte_arrive_whole_and_in_order()
    {
        // One shard: the second peer's answer shows that the first peer's part was read before the rest was sent.
        await using var fixture = new StreamFixture(shards: 1);
        StreamSocket socket = fixture.Bind(out string endpoint);
        RawPeer pacer = await fixture.ConnectAsync(endpoint);
        uint pacerId = await socket.NextConnectedAsync();
        RawPeer peer = await fixture.ConnectAsync(endpoint);
        uint id = await socket.NextConnectedAsync();
        byte[][] payloads = [[], [7], Wire.Pattern(200)];
        byte[] stream = Wire.Frames(payloads);

        for (int cut = 1; cut < stream.Length; cut++)
        {
            await peer.SendAsync(stream.AsMemory(0, cut));
            await pacer.SendFrameAsync((byte)cut);
            var seen = new List<byte[]>();
            bool paced = false;
            bool sentRest = false;
            while (!paced || seen.Count < payloads.Length)
            {
                using StreamMessage message = await socket.NextAsync();
                if (message.PeerId == pacerId)
                {
                    paced = true;
                }
                else
                {
                    Assert.Equal(id, message.PeerId);
                    seen.Add(message.Span.ToArray());
                }

                if (paced && !sentRest)
                {
                    sentRest = true;
                    await peer.SendAsync(stream.AsMemory(cut));
                }
            }

            Assert.Equal(payloads, seen);
        }
    }

    [Theory]
    [InlineData(8 * 1024)]
    [InlineData((8 * 1024) - 4)]
    [InlineData((8 * 1024) - 3)]
    [InlineData(64 * 1024)]
    [InlineData((1024 * 1024) + 5)]
    public async Task A_long_frame_in_pieces_of_many_sizes_arrives_whole(int length)
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Bind(out string endpoint);
        RawPeer peer = await fixture.ConnectAsync(endpoint);
        uint id = await socket.NextConnectedAsync();
        byte[] payload = Wire.Pattern(length);
        byte[] stream = Wire.Frames(payload, [1, 2, 3]);
        foreach (int piece in (int[])[1, 3, 4, 5, 1024, 8191, 8192, 65536, stream.Length])
        {
            int sent = 0;
            for (int step = 0; sent < stream.Length; step++)
            {
                // The first pieces are of that size; then the rest comes at once.
                int next = step < 3 ? Math.Min(piece, stream.Length - sent) : stream.Length - sent;
                await peer.SendAsync(stream.AsMemory(sent, next));
                await fixture.Context.WhenIdleAsync().Guarded();
                sent += next;
            }

            Assert.Equal(payload, await socket.NextDataAsync(id));
            Assert.Equal([1, 2, 3], await socket.NextDataAsync(id));
        }
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_connection_that_ends_at_any_byte_gives_its_whole_frames_and_then_its_end(bool reset)
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Bind(out string endpoint);
        byte[][] payloads = [[1], [], Wire.Pattern(20)];
        byte[] stream = Wire.Frames(payloads);
        for (int cut = 0; cut <= stream.Length; cut++)
        {
            using RawPeer peer = await RawPeer.ConnectAsync(endpoint);
            uint id = await socket.NextConnectedAsync();
            await peer.SendAsync(stream.AsMemory(0, cut));
            int whole = cut == stream.Length ? 3 : cut >= 9 ? 2 : cut >= 5 ? 1 : 0;
            for (int i = 0; i < whole; i++)
            {
                Assert.Equal(payloads[i], await socket.NextDataAsync(id));
            }

            if (reset)
            {
                peer.Reset();
            }
            else
            {
                peer.EndSending();
                Assert.Empty(await peer.ReadToEndAsync());
            }

            (uint ended, DisconnectReason reason) = await socket.NextDisconnectedAsync();
            Assert.Equal(id, ended);
            Assert.Equal(reset ? DisconnectReason.TransportError : DisconnectReason.Remote, reason);
        }

        await fixture.UntilAsync(() => socket.GetStatistics().ClosedConnections == stream.Length + 1);
    }
}
