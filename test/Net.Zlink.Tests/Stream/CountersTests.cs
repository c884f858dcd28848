using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Stream;

/// <summary>The books: what was accepted was written, waits, or was dropped and counted. Never a message twice, torn or out of
/// order.</summary>
public sealed class CountersTests
{
    [Fact]
    public async Task Messages_and_bytes_are_counted_on_both_sides()
    {
        await using var fixture = new StreamFixture();
        StreamSocket server = fixture.Bind(TestHandler.Echo(), out string endpoint);
        StreamSocket client = fixture.Context.CreateStream();
        uint id = await client.ConnectAsync(endpoint, Guard.Token).Guarded();
        await client.NextConnectedAsync();
        for (int i = 0; i < 10; i++)
        {
            client.To(id).Send(new byte[i]);
            Assert.Equal(i, (await client.NextDataAsync(id)).Length);
        }

        await fixture.UntilAsync(() => server.GetStatistics().WrittenMessages == 10 && client.GetStatistics().WrittenMessages == 10);
        foreach (StreamSocket socket in (StreamSocket[])[server, client])
        {
            SocketStatistics counters = socket.GetStatistics();
            Assert.Equal((10L, 45L + 40L), (counters.AcceptedMessages, counters.AcceptedBytes));
            Assert.Equal((10L, 45L + 40L), (counters.WrittenMessages, counters.WrittenBytes));
            Assert.Equal((10L, 45L + 40L), (counters.ReceivedMessages, counters.ReceivedBytes));
            Assert.Equal((0L, 0L, 1), (counters.DroppedMessages, counters.UnreadMessages, counters.Peers));
        }

        Assert.True(client.TryGetPeer(id, out StreamPeer? peer));
        PeerStatistics one = peer.GetStatistics();
        Assert.Equal((10L, 85L, 10L, 10L, 85L), (
            one.ReceivedMessages, one.ReceivedBytes, one.AcceptedMessages, one.WrittenMessages, one.WrittenBytes));
        Assert.Equal((0L, 0L, 0L, 0L, false), (one.QueuedMessages, one.QueuedBytes, one.DroppedMessages, one.UnreadMessages, one.IsPaused));
    }

    [Fact]
    public async Task Statistics_outlive_the_peers_they_count()
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Bind(TestHandler.Echo(), out string endpoint);
        for (int i = 1; i <= 5; i++)
        {
            using RawPeer peer = await RawPeer.ConnectAsync(endpoint);
            await peer.SendFrameAsync(1, 2, 3);
            await peer.ReadFrameAsync();
            peer.EndSending();
            Assert.Empty(await peer.ReadToEndAsync());
            await fixture.UntilAsync(() => socket.GetStatistics().ClosedConnections == i);
        }

        SocketStatistics counters = socket.GetStatistics();
        Assert.Equal((5L, 35L, 5L, 5L), (counters.ReceivedMessages, counters.ReceivedBytes, counters.AcceptedMessages,
            counters.WrittenMessages));
        Assert.Equal((5L, 5L, 0), (counters.AcceptedConnections, counters.ClosedConnections, counters.Peers));
    }

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public async Task The_books_balance_when_peers_are_cut_off_at_random_and_nothing_is_torn(int seed)
    {
        const int Connections = 40;
        await using var fixture = new StreamFixture();
        StreamSocket server = fixture.Bind(out string endpoint);
        StreamSocket client = fixture.Context.CreateStream(new StreamOptions { SendHighWaterMark = 50 });
        Task<long> receiving = ReceiveAsync(server);
        Task<long> events = ReceiveAsync(client);
#pragma warning disable CA5394 // A seed that can be given again is wanted here.
        var random = new Random(seed);
#pragma warning restore CA5394
        for (int connection = 0; connection < Connections; connection++)
        {
            uint id = await client.ConnectAsync(endpoint, Guard.Token).Guarded();
            int messages = Next(random, 200);
            int sent = 0;
            while (sent < messages)
            {
                if (client.To(id).TrySend(Wire.Pattern(Next(random, 3) == 0 ? 20_000 : 50, sent)).Tell(out SendFailure error))
                {
                    sent++;
                }
                else
                {
                    Assert.Equal(SendFailure.Full, error);
                    await client.To(id).SendAsync(Wire.Pattern(50, sent++), Guard.Token).Guarded();
                }
            }

            Assert.True(client.TryGetPeer(id, out StreamPeer? peer));
            if (Next(random, 2) == 0)
            {
                peer.Disconnect(abort: true);
            }
            else
            {
                peer.Disconnect();
            }
        }

        await fixture.UntilAsync(() => client.GetStatistics().ClosedConnections == Connections
            && server.GetStatistics().ClosedConnections == Connections);
        SocketStatistics sender = client.GetStatistics();
        Assert.Equal(sender.AcceptedMessages, sender.WrittenMessages + sender.DroppedMessages);
        await fixture.UntilAsync(() => server.GetStatistics().UnreadMessages == 0);
        SocketStatistics receiver = server.GetStatistics();
        Assert.InRange(receiver.ReceivedMessages, 1, sender.AcceptedMessages);
        server.Dispose();
        client.Dispose();
        Assert.Equal(receiver.ReceivedMessages, await receiving.Guarded() + server.GetStatistics().DroppedUnreadMessages);
        Assert.Equal(0, await events.Guarded());
    }

    /// <summary>Receives until the socket ends; checks that each peer's messages are whole and without a gap. Returns how many there
    /// were.</summary>
    private static async Task<long> ReceiveAsync(StreamSocket socket)
    {
        var next = new Dictionary<uint, int>();
        long count = 0;
        await foreach (StreamMessage message in socket.ReceiveAllAsync(Guard.Token))
        {
            using (message)
            {
                if (message.Kind == StreamMessageKind.Data)
                {
                    int expected = next[message.PeerId]++;
                    Wire.AssertSame(Wire.Pattern(message.Span.Length, expected), message.Span.ToArray());
                    count++;
                }
                else if (message.Kind == StreamMessageKind.Connected)
                {
                    next.Add(message.PeerId, 0);
                }
                else
                {
                    Assert.True(next.Remove(message.PeerId));
                }
            }
        }

        return count;
    }

#pragma warning disable CA5394 // as above
    private static int Next(Random random, int below) => random.Next(below);
#pragma warning restore CA5394
}
