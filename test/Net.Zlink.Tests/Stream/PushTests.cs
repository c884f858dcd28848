using System.Threading.Channels;
using Net.Zlink.Monitoring;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Stream;

public sealed class PushTests
{
    [Fact]
    public async Task A_handler_gets_the_frames_of_one_read_in_one_call()
    {
        await using var fixture = new StreamFixture();
        var batches = Channel.CreateUnbounded<byte[][]>();
        var handler = new TestHandler
        {
            Received = (_, frames) =>
            {
                Assert.Equal(4, frames.PayloadBytes);
                batches.Writer.TryWrite(TestHandler.Copy(frames));
                return ValueTask.CompletedTask;
            },
        };
        fixture.Bind(handler, out string endpoint);
        RawPeer peer = await fixture.ConnectAsync(endpoint);
        await peer.SendAsync(Wire.Frames([1], [], [2, 3], [4]));
        Assert.Equal([[1], [], [2, 3], [4]], await batches.Reader.ReadAsync(Guard.Token).Guarded());
    }

    [Fact]
    public async Task Answers_given_in_place_leave_together_after_the_handler_returns()
    {
        await using var fixture = new StreamFixture();
        var during = new TaskCompletionSource<PeerStatistics>(TaskCreationOptions.RunContinuationsAsynchronously);
        var handler = new TestHandler
        {
            Received = async (peer, frames) =>
            {
                await TestHandler.EchoAsync(peer, frames);
                during.TrySetResult(peer.GetStatistics());
            },
        };
        StreamSocket socket = fixture.Bind(handler, out string endpoint);
        RawPeer peer = await fixture.ConnectAsync(endpoint);
        await peer.SendAsync(Wire.Frames([1], [2], [3]));
        PeerStatistics statistics = await during.Task.Guarded();
        Assert.Equal((3L, 3L, 0L), (statistics.AcceptedMessages, statistics.QueuedMessages, statistics.WrittenMessages));
        Assert.Equal(Wire.Frames([1], [2], [3]), await peer.ReadAsync(15));
        await fixture.UntilAsync(() => socket.GetStatistics().WrittenMessages == 3);
    }

    [Fact]
    public async Task An_incomplete_handler_parks_its_own_peer_and_keeps_its_frames_while_others_go_on()
    {
        await using var fixture = new StreamFixture(shards: 1);
        var release = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var calls = Channel.CreateUnbounded<byte[][]>();
        int running = 0;
        var handler = new TestHandler
        {
            Received = async (peer, frames) =>
            {
                if (peer.Id != 1)
                {
                    await TestHandler.EchoAsync(peer, frames);
                    return;
                }

                Assert.Equal(1, Interlocked.Increment(ref running)); // calls of one peer never overlap
                byte[][] before = TestHandler.Copy(frames);
                await release.Task;
                Assert.Equal(before, TestHandler.Copy(frames));
                Interlocked.Decrement(ref running);
                calls.Writer.TryWrite(before);
            },
        };
        StreamSocket socket = fixture.Bind(handler, out string endpoint);
        RawPeer parked = await fixture.ConnectAsync(endpoint);
        StreamPeer parkedView = await handler.NextConnectedAsync();
        RawPeer other = await fixture.ConnectAsync(endpoint);
        await parked.SendAsync(Wire.Frames([1], [2]));
        await fixture.UntilAsync(() => parkedView.GetStatistics().IsPaused);
        await parked.SendAsync(Wire.Frames([3]));

        // Enough to go through the shard's slab several times.
        for (int i = 0; i < 40; i++)
        {
            byte[] payload = Wire.Pattern(60_000, i);
            Task sending = other.SendFrameAsync(payload);
            Wire.AssertSame(payload, (await other.ReadFrameAsync())!);
            await sending;
        }

        Assert.False(calls.Reader.TryRead(out _));
        Assert.Equal(2, parkedView.GetStatistics().ReceivedMessages);
        release.SetResult();
        Assert.Equal([[1], [2]], await calls.Reader.ReadAsync(Guard.Token).Guarded());
        Assert.Equal([[3]], await calls.Reader.ReadAsync(Guard.Token).Guarded());
        Assert.Equal(2, socket.PeerCount);
    }

    [Fact]
    public async Task An_asynchronous_handler_may_answer_before_and_after_its_await()
    {
        await using var fixture = new StreamFixture();
        var handler = new TestHandler
        {
            Received = static async (peer, frames) =>
            {
                foreach (ReadOnlyMemory<byte> payload in frames)
                {
                    await peer.SendAsync(payload, Guard.Token);
                    await Task.Yield();
                    await peer.SendAsync(payload, Guard.Token);
                }
            },
        };
        fixture.Bind(handler, out string endpoint);
        RawPeer peer = await fixture.ConnectAsync(endpoint);
        for (byte i = 0; i < 100; i++)
        {
            await peer.SendFrameAsync(i);
            Assert.Equal([i], (await peer.ReadFrameAsync())!);
            Assert.Equal([i], (await peer.ReadFrameAsync())!);
        }
    }

    [Fact]
    public async Task OnDisconnected_waits_for_the_call_that_is_incomplete_and_is_the_last()
    {
        await using var fixture = new StreamFixture();
        var release = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var log = new List<string>();
        var begun = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var handler = new TestHandler
        {
            Connected = _ => log.Add("connected"),
            Received = async (_, _) =>
            {
                log.Add("received");
                begun.SetResult();
                await release.Task;
                log.Add("done");
            },
            Disconnected = (_, _) => log.Add("disconnected"),
        };
        StreamSocket socket = fixture.Bind(handler, out string endpoint);
        RawPeer peer = await fixture.ConnectAsync(endpoint);
        StreamPeer view = await handler.NextConnectedAsync();
        await peer.SendFrameAsync(1);
        await begun.Task.Guarded();
        view.Disconnect(abort: true);
        await fixture.UntilAsync(() => socket.GetStatistics().ClosedConnections == 1);
        release.SetResult();
        Assert.Equal(DisconnectReason.Local, (await handler.NextDisconnectedAsync()).Reason);
        await fixture.Context.WhenIdleAsync().Guarded();
        Assert.Equal(["connected", "received", "done", "disconnected"], log);
    }

    [Fact]
    public async Task Frames_longer_than_a_read_are_pushed_one_by_one()
    {
        await using var fixture = new StreamFixture();
        fixture.Bind(TestHandler.Echo(), out string endpoint);
        RawPeer peer = await fixture.ConnectAsync(endpoint);
        byte[] payload = Wire.Pattern(3_000_000);
        Task sending = peer.SendAsync(Wire.Frames(payload, [1], payload));
        Wire.AssertSame(payload, (await peer.ReadFrameAsync())!);
        Assert.Equal([1], (await peer.ReadFrameAsync())!);
        Wire.AssertSame(payload, (await peer.ReadFrameAsync())!);
        await sending;
    }
}
