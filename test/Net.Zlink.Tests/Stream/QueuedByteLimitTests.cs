using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Stream;

/// <summary>All queues of a context together are at its limit, and STREAM sockets have a part in that.</summary>
public sealed class QueuedByteLimitTests
{
    private const int KernelBuffer = 64 * 1024;
    private const int Limit = 512 * 1024;
    private const int Payload = 1000;

    [Fact]
    public async Task Peers_of_sockets_that_do_not_receive_are_not_read_beyond_it_and_nothing_of_theirs_is_lost()
    {
        const int Frames = 1500;
        await using var fixture = new StreamFixture(queuedByteLimit: Limit);
        StreamSocket[] sockets = new StreamSocket[3];
        var sending = new List<Task>();
        byte[] stream = Wire.Frames(Enumerable.Range(0, Frames).Select(static seed => Wire.Pattern(Payload, seed)));
        for (int i = 0; i < sockets.Length; i++)
        {
            sockets[i] = fixture.Bind(out string endpoint,
                new StreamOptions { TotalReceiveByteLimit = null, ReceiveBufferSize = KernelBuffer });
            RawPeer peer = await fixture.ConnectAsync(endpoint);
            peer.Socket.SendBufferSize = KernelBuffer;
            await sockets[i].NextConnectedAsync();
            sending.Add(peer.SendAsync(stream));
        }

        await fixture.UntilAsync(() => Array.TrueForAll(sockets, static socket => socket.GetPeers()[0].GetStatistics().IsPaused));

        // Each may overshoot by what it may hold besides and the one read that it was at.
        Assert.InRange(sockets.Sum(static socket => socket.GetStatistics().UnreadMessages) * (Payload + 4), Limit,
            Limit + (sockets.Length * (16 + 66) * 1024));
        // One that needs more than is left, for what its read brought, takes nothing.
        Assert.InRange(fixture.Context.GetStatistics().QueuedBytes, Limit - (80 * 1024), Limit);
        Assert.Contains("queues of the context wait: ", sockets[0].Describe(), StringComparison.Ordinal);
        foreach (StreamSocket socket in sockets)
        {
            for (int i = 0; i < Frames; i++)
            {
                Assert.Equal(Wire.Pattern(Payload, i), await socket.NextDataAsync(1));
            }
        }

        await Task.WhenAll(sending).Guarded();
        Assert.Equal(0, fixture.Context.GetStatistics().QueuedBytes);
    }

    [Theory]
    [InlineData(1)]
    [InlineData(20)]
    public async Task A_socket_that_is_not_received_from_is_read_on_when_another_one_lets_go(int peers)
    {
        const int Each = 12_000;
        await using var fixture = new StreamFixture(queuedByteLimit: Limit);
        var options = new StreamOptions { TotalReceiveByteLimit = null, ReceiveBufferSize = KernelBuffer };
        StreamSocket hog = fixture.Bind(out string first, options);
        RawPeer peer = await fixture.ConnectAsync(first);
        Task sending = peer.SendAsync(Wire.Frames(Enumerable.Range(0, 1500).Select(static _ => new byte[Payload])));
        uint id = await hog.NextConnectedAsync();
        await fixture.UntilAsync(() => hog.GetPeers()[0].GetStatistics().IsPaused);
        StreamSocket other = fixture.Bind(out string second,
            new StreamOptions { TotalReceiveByteLimit = null, ReceiveBufferSize = KernelBuffer });
        var late = new RawPeer[peers + 1];
        for (int i = 0; i <= peers; i++)
        {
            late[i] = await fixture.ConnectAsync(second);
            Assert.Equal(1 + (uint)i, await other.NextConnectedAsync());
        }

        var sent = new List<Task>();
        for (int i = 0; i < peers; i++)
        {
            sent.Add(late[i].SendAsync(Wire.Frames([new byte[Each - 4]])));
        }

        // A message or two find the socket over what it may hold besides, and each further peer is stopped behind its first read, be it of
        // a part of a message.
        sent.Add(late[peers].SendAsync(Wire.Frames(Enumerable.Repeat(new byte[Each - 4], 20))));
        await fixture.UntilAsync(() => other.TryGetPeer(1 + (uint)peers, out StreamPeer? last) && last.GetStatistics().IsPaused);
        Assert.True(hog.Disconnect(id));
        await Task.WhenAll(sent).Guarded();
        await fixture.UntilAsync(() => other.GetStatistics().UnreadMessages == peers + 20);
        Assert.All(other.GetPeers(), static one => Assert.False(one.GetStatistics().IsPaused));
        peer.Dispose();
        await ((Task)sending.ContinueWith(static _ => { }, TaskScheduler.Default)).Guarded(); // It was cut off.
    }

    [Fact]
    public async Task A_send_to_a_peer_that_does_not_read_waits_at_it()
    {
        await using var fixture = new StreamFixture(queuedByteLimit: Limit, shutdownTimeout: TimeSpan.Zero);
        StreamSocket socket = fixture.Bind(out string endpoint, new StreamOptions { SendBufferSize = KernelBuffer });
        await fixture.ConnectAsync(endpoint, KernelBuffer);
        uint id = await socket.NextConnectedAsync();
        byte[] payload = new byte[Payload];
        TimeoutException? refused = null;
        await fixture.UntilAsync(() =>
        {
            refused = Record.Exception(() => socket.To(id).Send(payload, TimeSpan.Zero)) as TimeoutException;
            return refused is not null && fixture.Context.GetStatistics() is { QueuedBytes: >= Limit - (16 * 1024), QueuesWaiting: 1 };
        });
        Assert.Contains("QueuedByteLimit", refused!.Message, StringComparison.Ordinal);
        Assert.InRange(fixture.Context.GetStatistics().QueuedBytes, 0, Limit);
    }
}
