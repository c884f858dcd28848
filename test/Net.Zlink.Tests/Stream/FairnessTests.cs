using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Stream;

public sealed class FairnessTests
{
    [Fact]
    public async Task A_flooding_peer_does_not_starve_another_one()
    {
        // A turn ends at 64 KiB or 256 messages. The quiet peer's message waits for at most the turn that is being
        // served and its own.
        const int LongestWait = 2 * 256;
        await using var fixture = new StreamFixture(shards: 1);
        StreamSocket socket = fixture.Bind(out string endpoint);
        RawPeer flooder = await fixture.ConnectAsync(endpoint);
        uint flooderId = await socket.NextConnectedAsync();
        RawPeer quiet = await fixture.ConnectAsync(endpoint);
        uint quietId = await socket.NextConnectedAsync();
        byte[] flood = Wire.Frames(Enumerable.Repeat(new byte[8], 20_000));
        await flooder.SendAsync(flood);
        await fixture.UntilAsync(() => socket.GetStatistics().UnreadMessages > 10_000);

        for (int round = 0; round < 10; round++)
        {
            await quiet.SendFrameAsync((byte)round);

            // Its own: the flood may still be coming in, and what is told of the socket counts that too.
            await fixture.UntilAsync(() => socket.TryGetPeer(quietId, out StreamPeer? peer) && peer.GetStatistics().UnreadMessages == 1);
            int others = 0;
            while (true)
            {
                using StreamMessage message = await socket.NextAsync();
                if (message.PeerId == quietId)
                {
                    Assert.Equal([(byte)round], message.Span.ToArray());
                    break;
                }

                Assert.Equal(flooderId, message.PeerId);
                Assert.True(++others <= LongestWait, "the flooding peer's messages go first");
            }
        }
    }

    [Fact]
    public async Task Peers_with_unread_messages_take_turns()
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Bind(out string endpoint);
        var peers = new RawPeer[4];
        for (int i = 0; i < peers.Length; i++)
        {
            peers[i] = await fixture.ConnectAsync(endpoint);
            await socket.NextConnectedAsync();
        }

        // Three turns of each peer: a frame is more than the 64 KiB that end a turn. Each is awaited, so that they come in this order.
        long unread = 0;
        for (byte round = 0; round < 3; round++)
        {
            foreach (RawPeer peer in peers)
            {
                await peer.SendFrameAsync(LongFrame(round));
                unread++;
                await fixture.UntilAsync(() => socket.GetStatistics().UnreadMessages == unread);
            }
        }

        for (byte round = 0; round < 3; round++)
        {
            for (uint id = 1; id <= peers.Length; id++)
            {
                Assert.Equal(LongFrame(round), await socket.NextDataAsync(id));
            }
        }

        static byte[] LongFrame(byte round) => [.. Enumerable.Repeat(round, 70_000)];
    }

    [Fact]
    public async Task A_push_peer_that_floods_does_not_starve_another_one_of_its_shard()
    {
        await using var fixture = new StreamFixture(shards: 1);
        fixture.Bind(TestHandler.Echo(), out string endpoint, new StreamOptions { SendByteLimit = null, SendHighWaterMark = null });
        RawPeer flooder = await fixture.ConnectAsync(endpoint);
        RawPeer quiet = await fixture.ConnectAsync(endpoint);
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(Guard.Token);
        byte[] flood = Wire.Frames(Enumerable.Repeat(new byte[8], 5000));
        Task<byte[]> reading = flooder.ReadToEndAsync();
        Task flooding = Task.Run(
            async () =>
            {
                while (!stop.IsCancellationRequested)
                {
                    await flooder.SendAsync(flood);
                }
            },
            Guard.Token);

        for (byte i = 0; i < 100; i++)
        {
            await quiet.SendFrameAsync(i);
            Assert.Equal([i], (await quiet.ReadFrameAsync())!);
        }

        await stop.CancelAsync();
        await flooding.Guarded();
        flooder.EndSending();
        byte[] answers = await reading;
        Assert.Equal(0, answers.Length % flood.Length);
    }
}
