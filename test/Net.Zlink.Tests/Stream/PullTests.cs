using System.Diagnostics;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Stream;

/// <summary>Every way to take messages out of the one receive queue.</summary>
public sealed class PullTests
{
    [Fact]
    public async Task TryReceive_never_waits()
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Bind(out string endpoint);
        Assert.False(socket.TryReceive(out _));
        RawPeer peer = await fixture.ConnectAsync(endpoint);
        uint id = await socket.NextConnectedAsync();
        Assert.False(socket.TryReceive(out _));
        await peer.SendFrameAsync(1, 2);
        await fixture.UntilAsync(() => socket.GetStatistics().UnreadMessages == 1);
        Assert.True(socket.TryReceive(out StreamMessage message));
        using (message)
        {
            Assert.Equal((StreamMessageKind.Data, id), (message.Kind, message.PeerId));
            Assert.Equal([1, 2], message.Span.ToArray());
        }
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task Receive_waits_for_a_message_and_not_longer_than_told(bool onPoolThread)
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Bind(out string endpoint, new StreamOptions { ReceiveTimeout = TimeSpan.FromMilliseconds(30) });
        RawPeer peer = await fixture.ConnectAsync(endpoint);
        await socket.NextConnectedAsync();
        TaskCreationOptions where = onPoolThread ? TaskCreationOptions.None : TaskCreationOptions.LongRunning;
        await Task.Factory.StartNew(
            () =>
            {
                long started = Stopwatch.GetTimestamp();
                Assert.Throws<TimeoutException>(() => socket.Receive());
                Assert.Throws<TimeoutException>(() => socket.Receive(TimeSpan.FromMilliseconds(30)));
                Assert.InRange(Stopwatch.GetElapsedTime(started), TimeSpan.FromMilliseconds(55), Guard.Limit);
                Assert.Throws<TimeoutException>(() => socket.Receive(TimeSpan.Zero));
            },
            Guard.Token,
            where,
            TaskScheduler.Default).Guarded();

        Task<byte> receiving = Task.Factory.StartNew(
            () =>
            {
                using StreamMessage message = socket.Receive(Guard.Limit);
                return message.Span[0];
            },
            Guard.Token,
            where,
            TaskScheduler.Default);
        await peer.SendFrameAsync(77);
        Assert.Equal(77, await receiving.Guarded());
    }

    [Fact]
    public async Task A_negative_timeout_is_refused()
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Bind(out _);
        Assert.Throws<ArgumentOutOfRangeException>(() => socket.Receive(TimeSpan.FromSeconds(-2)));
        Assert.Throws<ArgumentOutOfRangeException>(() => socket.To(1).Send([1], TimeSpan.FromSeconds(-2)));
        await Assert.ThrowsAsync<ArgumentException>(() => socket.ReceiveManyAsync(Memory<StreamMessage>.Empty, Guard.Token).AsTask());
    }

    [Fact]
    public async Task A_cancelled_ReceiveAsync_loses_no_message()
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Bind(out string endpoint);
        RawPeer peer = await fixture.ConnectAsync(endpoint);
        uint id = await socket.NextConnectedAsync();
        byte expected = 0;
        int cancelled = 0;
        while (expected < 200)
        {
            // Cancelled at about the moment the message comes: whoever wins, it is received once and in order.
            using var cancellation = new CancellationTokenSource();
            Task<StreamMessage> receiving = socket.ReceiveAsync(cancellation.Token).AsTask();
            Task sending = peer.SendFrameAsync(expected);
            if (expected % 3 == 0)
            {
                await sending;
            }

            await cancellation.CancelAsync();
            try
            {
                using StreamMessage message = await receiving.Guarded();
                Assert.Equal([expected], message.Span.ToArray());
            }
            catch (OperationCanceledException)
            {
                cancelled++;
                Assert.Equal([expected], await socket.NextDataAsync(id));
            }

            await sending;
            expected++;
        }

        Assert.InRange(cancelled, 1, 200);
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => socket.ReceiveAsync(new CancellationToken(canceled: true)).Guarded());
    }

    [Fact]
    public async Task Waiting_receivers_are_served_first_come_first_served()
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Bind(out string endpoint);
        RawPeer peer = await fixture.ConnectAsync(endpoint);
        uint id = await socket.NextConnectedAsync();
        using var cancellation = new CancellationTokenSource();
        Task<byte[]> first = socket.NextDataAsync(id);
        Task<StreamMessage> leaves = socket.ReceiveAsync(cancellation.Token).AsTask();
        Task<byte[]> second = socket.NextDataAsync(id);
        await cancellation.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => leaves.Guarded());
        await peer.SendAsync(Wire.Frames([1], [2]));
        Assert.Equal([1], await first.Guarded());
        Assert.Equal([2], await second.Guarded());
    }
}
