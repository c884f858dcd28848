using System.Net.Sockets;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Stream;

/// <summary>A receiver that is full stops reading: TCP pushes back, and nothing is lost when it goes on.</summary>
public sealed class BackpressureTests
{
    private const int KernelBuffer = 64 * 1024;

    // 1,000 bytes and the length before them.
    private const int FrameLength = 1004;

    [Theory]
    [InlineData("messages")]
    [InlineData("bytes")]
    [InlineData("all peers' bytes")]
    public async Task A_peer_whose_messages_are_not_received_is_not_read_until_they_are(string limit)
    {
        const int Payload = 1000;
        await using var fixture = new StreamFixture();
        var options = new StreamOptions { ReceiveBufferSize = KernelBuffer };
        switch (limit)
        {
            case "messages":
                options.ReceiveHighWaterMark = 100;
                break;
            case "bytes":
                options.ReceiveByteLimit = 100_000;
                break;
            default:
                options.TotalReceiveByteLimit = 100_000;
                break;
        }

        StreamSocket socket = fixture.Bind(out string endpoint, options);
        RawPeer peer = await fixture.ConnectAsync(endpoint);
        peer.Socket.SendBufferSize = KernelBuffer;
        uint id = await socket.NextConnectedAsync();
        Assert.True(socket.TryGetPeer(id, out StreamPeer? view));

        int sent = await SendUntilFullAsync(fixture, peer, seed => Wire.Pattern(Payload, seed));
        await fixture.UntilAsync(() => view.GetStatistics().IsPaused);

        // At most the limit and one read beyond it.
        int fewest = options.TotalReceiveByteLimit == 100_000 ? FewestThatFill(100_000) : 100;
        Assert.InRange(socket.GetStatistics().UnreadMessages, fewest, 100 + 66);

        // What waits is pinned in whole slabs of 256 KiB: one that is read into, and those that unread messages stand in.
        Assert.InRange(fixture.Pool.GetStatistics().BytesRented, fewest * FrameLength, 4 * 256 * 1024);

        Task more = peer.SendAsync(Wire.Frames(Enumerable.Range(sent, 100).Select(static i => Wire.Pattern(Payload, i))));
        for (int i = 0; i < sent + 100; i++)
        {
            Assert.Equal(Wire.Pattern(Payload, i), await socket.NextDataAsync(id));
        }

        await more;
        await fixture.UntilAsync(() => !view.GetStatistics().IsPaused);
        Assert.Equal(0, socket.GetStatistics().UnreadMessages);
    }

    [Fact]
    public async Task The_total_limit_bounds_many_peers_together_and_starves_none()
    {
        const int Limit = 256 * 1024;
        const int Peers = 12;
        const int Frames = 300;
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Bind(out string endpoint,
            new StreamOptions { TotalReceiveByteLimit = Limit, ReceiveBufferSize = KernelBuffer });
        var peers = new RawPeer[Peers];
        for (int i = 0; i < Peers; i++)
        {
            peers[i] = await fixture.ConnectAsync(endpoint);
            await socket.NextConnectedAsync();
        }

        byte[] stream = Wire.Frames(Enumerable.Range(0, Frames).Select(static seed => Wire.Pattern(1000, seed)));
        Task[] sending = [.. peers.Select(peer => peer.SendAsync(stream))];

        await fixture.UntilAsync(() => socket.GetPeers().Count(static peer => peer.GetStatistics().IsPaused) == Peers);

        // Each peer may overshoot by the one read that it was at.
        Assert.InRange(socket.GetStatistics().UnreadMessages * FrameLength, FewestThatFill(Limit) * FrameLength,
            Limit + (Peers * 66 * 1024));

        int[] next = new int[Peers + 1];
        for (int i = 0; i < Peers * Frames; i++)
        {
            using StreamMessage message = await socket.NextAsync();
            Wire.AssertSame(Wire.Pattern(1000, next[message.PeerId]++), message.Span.ToArray());
        }

        await Task.WhenAll(sending).Guarded();
        Assert.All(next[1..], static count => Assert.Equal(Frames, count));
    }

    [Fact]
    public async Task Dropping_the_unread_messages_of_one_peer_lets_the_others_be_read_again()
    {
        const int Limit = 100_000;
        await using var fixture = new StreamFixture(shards: 1);
        StreamSocket socket = fixture.Bind(out string endpoint,
            new StreamOptions { TotalReceiveByteLimit = Limit, ReceiveBufferSize = KernelBuffer });
        RawPeer hog = await fixture.ConnectAsync(endpoint);
        uint hogId = await socket.NextConnectedAsync();
        var others = new RawPeer[20];
        for (int i = 0; i < others.Length; i++)
        {
            others[i] = await fixture.ConnectAsync(endpoint);
            await socket.NextConnectedAsync();
        }

        // Each of the others' first read is taken although the budget is used up; then it is stopped. Its message is received, and it waits
        // with nothing unread.
        await SendUntilFullAsync(fixture, hog, static _ => new byte[1000]);
        foreach (RawPeer other in others)
        {
            await other.SendFrameAsync(1);
        }

        int seen = 0;
        while (seen < others.Length)
        {
            using StreamMessage message = await socket.NextAsync();
            seen += message.PeerId == hogId ? 0 : 1;
        }

        await SendUntilFullAsync(fixture, hog, static _ => new byte[1000]);
        Assert.True(socket.Disconnect(hogId));
        await socket.NextDisconnectedAsync();
        for (int i = 0; i < others.Length; i++)
        {
            await others[i].SendFrameAsync(2);
            Assert.Equal([2], await socket.NextDataAsync(hogId + 1 + (uint)i));
        }
    }

    [Fact]
    public async Task A_slow_handler_pushes_back_and_loses_nothing()
    {
        await using var fixture = new StreamFixture();
        var release = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        int next = 0;
        var handler = new TestHandler
        {
            Received = async (_, frames) =>
            {
                await release.Task;
                foreach (ReadOnlyMemory<byte> payload in frames)
                {
                    Wire.AssertSame(Wire.Pattern(1000, next++), payload.ToArray());
                }
            },
        };
        StreamSocket socket = fixture.Bind(handler, out string endpoint, new StreamOptions { ReceiveBufferSize = KernelBuffer });
        RawPeer peer = await fixture.ConnectAsync(endpoint);
        peer.Socket.SendBufferSize = KernelBuffer;
        int sent = await SendUntilFullAsync(fixture, peer, static seed => Wire.Pattern(1000, seed));
        Assert.InRange(socket.GetStatistics().ReceivedMessages, 1, 66); // one read
        release.SetResult();
        await fixture.UntilAsync(() => Volatile.Read(ref next) == sent);
        Assert.Equal(0, socket.GetStatistics().HandlerFaults);
    }

    /// <summary>How many frames of 1,000 bytes fill <see cref="StreamOptions.TotalReceiveByteLimit"/> if each comes alone: then it counts
    /// 600 bytes besides, the first 64 do not. How many come with one read is the system's business.</summary>
    private static int FewestThatFill(int limit) => (limit + (64 * 600)) / (FrameLength + 600);

    /// <summary>Sends frames until the system takes no more, whatever the shards still do; finishes the last one it began. Returns how
    /// many.</summary>
    private static async Task<int> SendUntilFullAsync(StreamFixture fixture, RawPeer peer, Func<int, byte[]> payload)
    {
        peer.Socket.Blocking = false;
        int sent = 0;
        int refusedInARow = 0;
        ReadOnlyMemory<byte> rest = Wire.Frame(payload(0));
        while (refusedInARow < 5)
        {
            int taken = peer.Socket.Send(rest.Span, SocketFlags.None, out SocketError error);
            if (error == SocketError.WouldBlock)
            {
                refusedInARow++;
                await fixture.SettleAsync();
                continue;
            }

            Assert.Equal(SocketError.Success, error);
            refusedInARow = 0;
            rest = rest[taken..];
            if (rest.IsEmpty)
            {
                sent++;
                rest = Wire.Frame(payload(sent));
            }
        }

        // The frame that was cut is finished when there is room again: it is the next one then.
        if (rest.Length < Wire.Frame(payload(sent)).Length)
        {
            _ = peer.SendAsync(rest);
            sent++;
        }

        return sent;
    }
}
