using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Stream;

/// <summary>A peer that does not read fills its limits, and nothing else.</summary>
public sealed class SlowReaderTests
{
    private const int SmallKernelBuffer = 16 * 1024;

    [Fact]
    public async Task A_peer_that_never_reads_fills_its_limit_in_messages()
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Bind(out string endpoint,
            new StreamOptions { SendHighWaterMark = 5, SendBufferSize = SmallKernelBuffer });
        RawPeer peer = await fixture.ConnectAsync(endpoint, SmallKernelBuffer);
        uint id = await socket.NextConnectedAsync();

        int accepted = socket.Fill(id);
        Assert.Equal(5, accepted);
        Assert.True(socket.TryGetPeer(id, out StreamPeer? view));
        PeerStatistics statistics = view.GetStatistics();
        Assert.Equal(5, statistics.QueuedMessages);
        Assert.Equal(accepted, statistics.AcceptedMessages);
        Assert.Equal(accepted, statistics.WrittenMessages + statistics.QueuedMessages);
        Assert.False(view.TrySend([1]));

        List<byte[]> read = await ReadAsync(peer, accepted);
        Assert.All(read, static payload => Wire.AssertSame(Wire.Huge, payload));
    }

    [Fact]
    public async Task A_peer_that_never_reads_fills_its_limit_in_bytes()
    {
        const int Limit = 1_000_000;
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Bind(out string endpoint,
            new StreamOptions { SendByteLimit = Limit, SendBufferSize = SmallKernelBuffer });
        await fixture.ConnectAsync(endpoint, SmallKernelBuffer);
        uint id = await socket.NextConnectedAsync();

        socket.Fill(id);
        Assert.True(socket.TryGetPeer(id, out StreamPeer? view));
        Assert.Equal(4 * (Wire.HugeSize + 4), view.GetStatistics().QueuedBytes); // the fourth went past the limit

        // What waits is held in buffers of about its size; beside them there are the two shards' slabs of 256 KiB.
        Assert.InRange(fixture.Pool.GetStatistics().BytesRented, Limit, (2 * Limit) + (2 * 256 * 1024));
    }

    [Fact]
    public async Task An_empty_STREAM_queue_takes_a_message_of_any_length()
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Bind(out string endpoint, new StreamOptions { SendByteLimit = 10, SendHighWaterMark = 1 });
        RawPeer peer = await fixture.ConnectAsync(endpoint);
        uint id = await socket.NextConnectedAsync();

        await socket.To(id).SendAsync(Wire.Pattern(50_000), Guard.Token).Guarded();
        Assert.Equal(Wire.Pattern(50_000), await peer.ReadFrameAsync());
    }

    [Fact]
    public async Task SendAsync_waits_for_room_and_completes_in_order_when_the_peer_reads()
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Bind(out string endpoint,
            new StreamOptions { SendHighWaterMark = 3, SendBufferSize = SmallKernelBuffer });
        RawPeer peer = await fixture.ConnectAsync(endpoint, SmallKernelBuffer);
        uint id = await socket.NextConnectedAsync();
        int accepted = socket.Fill(id);

        Task first = socket.To(id).SendAsync(Wire.Pattern(20_000, 1), Guard.Token).AsTask();
        Task second = socket.To(id).SendAsync(Wire.Pattern(30, 2), Guard.Token).AsTask();
        await fixture.Context.WhenIdleAsync().Guarded();
        Assert.False(first.IsCompleted);
        Assert.False(second.IsCompleted);
        Assert.False(socket.To(id).TrySend([9]).Tell(out SendFailure error)); // nobody overtakes those who wait
        Assert.Equal(SendFailure.Full, error);

        List<byte[]> read = await ReadAsync(peer, accepted + 2);
        await first.Guarded();
        await second.Guarded();
        Assert.Equal(Wire.Pattern(20_000, 1), read[accepted]);
        Assert.Equal(Wire.Pattern(30, 2), read[accepted + 1]);
    }

    [Fact]
    public async Task A_cancelled_SendAsync_sends_nothing()
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Bind(out string endpoint,
            new StreamOptions { SendHighWaterMark = 3, SendBufferSize = SmallKernelBuffer });
        RawPeer peer = await fixture.ConnectAsync(endpoint, SmallKernelBuffer);
        uint id = await socket.NextConnectedAsync();
        int accepted = socket.Fill(id);

        using var cancellation = new CancellationTokenSource();
        Task cancelled = socket.To(id).SendAsync(new byte[] { 1 }, cancellation.Token).AsTask();
        Task stays = socket.To(id).SendAsync(new byte[] { 2 }, Guard.Token).AsTask();
        await cancellation.CancelAsync();
        OperationCanceledException thrown = await Assert.ThrowsAnyAsync<OperationCanceledException>(() => cancelled.Guarded());
        Assert.Equal(cancellation.Token, thrown.CancellationToken);
        await Assert.ThrowsAnyAsync<OperationCanceledException>(
            () => socket.To(id).SendAsync(new byte[] { 3 }, cancellation.Token).Guarded());

        List<byte[]> read = await ReadAsync(peer, accepted + 1);
        await stays.Guarded();
        Assert.Equal([2], read[accepted]);
        Assert.Equal(accepted + 1, socket.GetStatistics().AcceptedMessages);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_blocking_Send_to_a_full_peer_times_out(bool onPoolThread)
    {
        await using var fixture = new StreamFixture();
        var options = new StreamOptions
        {
            SendHighWaterMark = 2,
            SendBufferSize = SmallKernelBuffer,
            SendTimeout = TimeSpan.FromMilliseconds(20)
        };
        StreamSocket socket = fixture.Bind(out string endpoint, options);
        await fixture.ConnectAsync(endpoint, SmallKernelBuffer);
        uint id = await socket.NextConnectedAsync();
        int accepted = socket.Fill(id);

        Action send = () =>
        {
            TimeoutException byOption = Assert.Throws<TimeoutException>(() => socket.To(id).Send([1]));
            Assert.Contains("high-water mark", byOption.Message, StringComparison.Ordinal);
            Assert.Throws<TimeoutException>(() => socket.To(id).Send([1], TimeSpan.FromMilliseconds(20)));
            Assert.Throws<TimeoutException>(() => socket.To(id).Send([1], TimeSpan.Zero));
        };
        await Task.Factory.StartNew(send, Guard.Token, onPoolThread ? TaskCreationOptions.None : TaskCreationOptions.LongRunning,
            TaskScheduler.Default).Guarded();
        Assert.Equal(accepted, socket.GetStatistics().AcceptedMessages);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_blocking_Send_to_a_full_peer_returns_when_the_peer_reads(bool onPoolThread)
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Bind(out string endpoint,
            new StreamOptions { SendHighWaterMark = 2, SendBufferSize = SmallKernelBuffer });
        RawPeer peer = await fixture.ConnectAsync(endpoint, SmallKernelBuffer);
        uint id = await socket.NextConnectedAsync();
        int accepted = socket.Fill(id);

        Task sending = Task.Factory.StartNew(
            () => socket.To(id).Send([42]), Guard.Token, onPoolThread ? TaskCreationOptions.None : TaskCreationOptions.LongRunning,
                TaskScheduler.Default);
        List<byte[]> read = await ReadAsync(peer, accepted + 1);
        await sending.Guarded();
        Assert.Equal([42], read[accepted]);
    }

    private static async Task<List<byte[]>> ReadAsync(RawPeer peer, int count)
    {
        var read = new List<byte[]>();
        while (read.Count < count)
        {
            read.Add((await peer.ReadFrameAsync())!);
        }

        return read;
    }
}
