using Net.Zlink.Monitoring;
using Net.Zlink.Porting;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Stream;

/// <summary>A handler that throws ends its peer, with an event, and nothing else.</summary>
public sealed class HandlerFailureTests
{
    private const byte Poison = 0xEE;

    [Theory]
    [InlineData("at once")]
    [InlineData("after an await")]
    [InlineData("failed task")]
    [InlineData("cancelled")]
    public async Task A_handler_that_throws_ends_only_the_peer_it_was_called_for(string how)
    {
        await using var fixture = new StreamFixture(shards: 1);
        var handler = new TestHandler
        {
            Received = (peer, frames) => TestHandler.Copy(frames)[0] is [Poison] ? FailAsync(how) : TestHandler.EchoAsync(peer, frames),
        };
        StreamSocket socket = fixture.Bind(handler, out string endpoint);
        using EventReader monitor = socket.ReadEvents();
        RawPeer good = await fixture.ConnectAsync(endpoint);
        uint goodId = (await handler.NextConnectedAsync()).Id;
        RawPeer bad = await fixture.ConnectAsync(endpoint);
        uint badId = (await handler.NextConnectedAsync()).Id;

        await bad.SendFrameAsync(1);
        Assert.Equal([1], await bad.ReadFrameAsync());
        await bad.SendFrameAsync(Poison);
        Assert.Empty(await bad.ReadToEndAsync());

        (StreamPeer ended, DisconnectReason reason) = await handler.NextDisconnectedAsync();
        Assert.Equal((badId, DisconnectReason.HandlerFailed), (ended.Id, reason));
        SocketEvent failed = await monitor.NextAsync(SocketEventTypes.HandlerFailed);
        Assert.Equal(badId, failed.PeerId);
        Assert.Equal($"tcp://{bad.Socket.LocalEndPoint}", failed.RemoteAddress);
        Assert.Contains(how, failed.Detail, StringComparison.Ordinal);
        SocketEvent disconnected = await monitor.NextAsync(SocketEventTypes.Disconnected);
        Assert.Equal((badId, 3L), (disconnected.PeerId, disconnected.ToNativeValue()));
        Assert.Equal(1, socket.GetStatistics().HandlerFaults);

        await good.SendFrameAsync(2);
        Assert.Equal([2], await good.ReadFrameAsync());
        Assert.Equal([goodId], socket.GetPeers().Select(static peer => peer.Id));
    }

    [Fact]
    public async Task A_handler_that_waited_for_room_at_a_peer_which_has_left_has_not_failed()
    {
        await using var fixture = new StreamFixture(shards: 1);
        var waits = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var handler = new TestHandler
        {
            Received = async (peer, frames) =>
            {
                while (true)
                {
                    ValueTask sending = peer.SendAsync(new byte[100_000]);
                    if (!sending.IsCompleted)
                    {
                        waits.TrySetResult();
                    }

                    await sending;
                }
            },
        };
        StreamSocket socket = fixture.Bind(handler, out string endpoint);
        using EventReader monitor = socket.ReadEvents(SocketEventTypes.Disconnected | SocketEventTypes.HandlerFailed);
        RawPeer peer = await fixture.ConnectAsync(endpoint);
        await peer.SendFrameAsync(1);
        await waits.Task.Guarded();
        peer.Reset();
        Assert.Equal(DisconnectReason.TransportError, (await handler.NextDisconnectedAsync()).Reason);
        Assert.Equal(SocketEventTypes.Disconnected, (await monitor.ReadAsync(Guard.Token).Guarded()).Type);
        Assert.False(monitor.TryRead(out _));
        Assert.Equal(0, socket.GetStatistics().HandlerFaults);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_handler_whose_exception_has_no_words_ends_only_the_peer_it_was_called_for(bool later)
    {
        await using var fixture = new StreamFixture(shards: 1);
        var handler = new TestHandler
        {
            Received = async (peer, frames) =>
            {
                bool isPoison = TestHandler.Copy(frames)[0] is [Poison];
                if (later)
                {
                    await Task.Yield();
                }

                if (isPoison)
                {
                    throw new WordlessException();
                }

                peer.TrySend([1]);
            },
        };
        StreamSocket socket = fixture.Bind(handler, out string endpoint);
        using EventReader monitor = socket.ReadEvents();
        RawPeer good = await fixture.ConnectAsync(endpoint);
        RawPeer bad = await fixture.ConnectAsync(endpoint);

        await bad.SendFrameAsync(Poison);
        Assert.Empty(await bad.ReadToEndAsync());

        Assert.Equal(DisconnectReason.HandlerFailed, (await handler.NextDisconnectedAsync()).Reason);
        SocketEvent failed = await monitor.NextAsync(SocketEventTypes.HandlerFailed);
        Assert.StartsWith($"{typeof(WordlessException)} without ", failed.Detail, StringComparison.Ordinal);
        await good.SendFrameAsync(2);
        Assert.Equal([1], await good.ReadFrameAsync());
    }

    [Fact]
    public async Task Answers_sent_before_the_handler_threw_arrive()
    {
        await using var fixture = new StreamFixture();
        var handler = new TestHandler
        {
            Received = static (peer, _) =>
            {
                Assert.True(peer.TrySend([1, 2, 3]));
                throw new InvalidOperationException("after the answer");
            },
        };
        fixture.Bind(handler, out string endpoint);
        RawPeer peer = await fixture.ConnectAsync(endpoint);
        await peer.SendFrameAsync(9);
        Assert.Equal(Wire.Frame([1, 2, 3]), await peer.ReadToEndAsync());
    }

    [Fact]
    public async Task Nothing_is_received_after_the_handler_threw()
    {
        await using var fixture = new StreamFixture();
        int calls = 0;
        var handler = new TestHandler
        {
            Received = (_, _) =>
            {
                Interlocked.Increment(ref calls);
                throw new InvalidOperationException("first call");
            },
        };
        StreamSocket socket = fixture.Bind(handler, out string endpoint);
        RawPeer peer = await fixture.ConnectAsync(endpoint);

        // Four reads' worth, so that there is more to be read when the first call throws.
        await peer.SendAsync(Wire.Frames(Enumerable.Repeat(new byte[1000], 256)));
        Assert.Empty(await peer.ReadToEndAsync());
        peer.Dispose();
        await fixture.UntilAsync(() => socket.GetStatistics().ClosedConnections == 1);
        Assert.Equal(1, calls);
    }

    [Fact]
    public async Task A_throwing_OnConnected_ends_the_peer_before_it_is_received_from()
    {
        await using var fixture = new StreamFixture(shards: 1);
        using var gate = new ManualResetEventSlim();
        int received = 0;
        var handler = new TestHandler
        {
            Connected = peer =>
            {
                // The first peer holds the shard, the only one, until the second one's frame is there: it can then be read as soon as that
                // peer is opened.
                if (peer.Id == 1)
                {
                    Assert.True(gate.Wait(Guard.Limit, Guard.Token));
                    return;
                }

                throw new InvalidOperationException($"not peer {peer.Id}");
            },
            Received = (_, _) =>
            {
                Interlocked.Increment(ref received);
                return ValueTask.CompletedTask;
            },
        };
        StreamSocket socket = fixture.Bind(handler, out string endpoint);
        using EventReader monitor = socket.ReadEvents();
        await fixture.ConnectAsync(endpoint);
        await handler.NextConnectedAsync();
        RawPeer peer = await fixture.ConnectAsync(endpoint);
        await peer.SendFrameAsync(1);
        gate.Set();
        Assert.Empty(await peer.ReadToEndAsync());

        SocketEvent failed = await monitor.NextAsync(SocketEventTypes.HandlerFailed);
        Assert.Contains("not peer 2", failed.Detail, StringComparison.Ordinal);
        (StreamPeer ended, DisconnectReason reason) = await handler.NextDisconnectedAsync();
        Assert.Equal((2u, DisconnectReason.HandlerFailed), (ended.Id, reason));
        Assert.Equal(0, received);
    }

    [Fact]
    public async Task A_throwing_OnDisconnected_is_reported_and_harms_nobody()
    {
        await using var fixture = new StreamFixture(shards: 1);
        var handler = new TestHandler
        {
            Received = TestHandler.EchoAsync,
            Disconnected = static (_, reason) => throw new InvalidOperationException($"told of {reason}"),
        };
        StreamSocket socket = fixture.Bind(handler, out string endpoint);
        using EventReader monitor = socket.ReadEvents();
        RawPeer leaver = await fixture.ConnectAsync(endpoint);
        await handler.NextConnectedAsync();
        RawPeer stayer = await fixture.ConnectAsync(endpoint);

        leaver.EndSending();
        Assert.Empty(await leaver.ReadToEndAsync());
        SocketEvent failed = await monitor.NextAsync(SocketEventTypes.HandlerFailed);
        Assert.Equal(1u, failed.PeerId);
        Assert.Contains("told of Remote", failed.Detail, StringComparison.Ordinal);

        await stayer.SendFrameAsync(2);
        Assert.Equal([2], await stayer.ReadFrameAsync());
        await fixture.UntilAsync(() => socket.GetStatistics().ClosedConnections == 1);
    }

    private static ValueTask FailAsync(string how)
    {
        return how switch
        {
            "at once" => throw new InvalidOperationException(how),
            "failed task" => ValueTask.FromException(new InvalidOperationException(how)),
            "cancelled" => ValueTask.FromException(new OperationCanceledException(how)),
            _ => LaterAsync(),
        };

        async ValueTask LaterAsync()
        {
            await Task.Yield();
            throw new InvalidOperationException(how);
        }
    }
}
