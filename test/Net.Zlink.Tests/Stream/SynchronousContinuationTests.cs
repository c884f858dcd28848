using Net.Zlink.Engine;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Stream;

/// <summary>Awaiting receives that go on in the shard that has read the message.</summary>
public sealed class SynchronousContinuationTests
{
    public enum Way
    {
        One,
        Many,
        All,
    }

    [Theory]
    [InlineData(Way.One)]
    [InlineData(Way.Many)]
    [InlineData(Way.All)]
    public async Task A_receive_continues_in_a_shard_where_synchronous_continuations_are_allowed(Way way)
    {
        await using var fixture = new StreamFixture();
        bool sawShard = false;
        StreamSocket socket = fixture.Bind(out string endpoint, new StreamOptions { AllowSynchronousContinuations = true });
        Task echo = EchoAsync(socket, way, _ => sawShard |= ShardLoop.Current is not null);
        RawPeer peer = await fixture.ConnectAsync(endpoint);

        // A message that is there before the consumer has begun to wait finds nobody to run, so not every one does.
        while (!Volatile.Read(ref sawShard))
        {
            await RoundTripAsync(peer, 3);
        }

        socket.Dispose();
        await echo.Guarded();
    }

    [Fact]
    public async Task A_receive_never_continues_in_a_shard_where_synchronous_continuations_are_not_allowed()
    {
        await using var fixture = new StreamFixture();
        bool sawShard = false;
        StreamSocket socket = fixture.Bind(out string endpoint);
        Task echo = EchoAsync(socket, Way.Many, _ => sawShard |= ShardLoop.Current is not null);
        RawPeer peer = await fixture.ConnectAsync(endpoint);
        for (int i = 0; i < 100; i++)
        {
            await RoundTripAsync(peer, 3);
        }

        socket.Dispose();
        await echo.Guarded();
        Assert.False(sawShard);
    }

    [Theory]
    [InlineData(Way.One, 1)]
    [InlineData(Way.Many, 1)]
    [InlineData(Way.All, 1)]
    [InlineData(Way.One, 3)]
    [InlineData(Way.Many, 3)]
    public async Task Every_peer_gets_all_its_answers_in_order(Way way, int shards)
    {
        const int Peers = 12;
        const int Messages = 1_500;
        await using var fixture = new StreamFixture(shards);
        StreamSocket socket = fixture.Bind(out string endpoint, new StreamOptions { AllowSynchronousContinuations = true });
        Task echo = EchoAsync(socket, way, static _ => { });
        await Task.WhenAll(Enumerable.Range(0, Peers).Select(async p =>
        {
            RawPeer peer = await fixture.ConnectAsync(endpoint);
            await peer.AssertEchoedAsync([.. Enumerable.Range(0, Messages).Select(i => Payload(p, i))]);
        })).Guarded();
        socket.Dispose();
        await echo.Guarded();

        static byte[] Payload(int peer, int i) => Wire.Pattern((peer * 37 * i) % 900, peer + i);
    }

    [Fact]
    public async Task A_receive_that_is_cancelled_while_a_message_comes_in_loses_nothing()
    {
        const int Messages = 1_000;
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Bind(out string endpoint, new StreamOptions { AllowSynchronousContinuations = true });
        RawPeer peer = await fixture.ConnectAsync(endpoint);
        await socket.NextConnectedAsync();
        await Task.Run(
            async () =>
            {
                for (int i = 0; i < Messages; i++)
                {
                    using var cancellation = new CancellationTokenSource();
                    ValueTask<StreamMessage> receiving = socket.ReceiveAsync(cancellation.Token);
                    Assert.False(receiving.IsCompleted); // Nothing was sent.
                    Task sending = i % 10 == 0 ? Task.CompletedTask : peer.SendAsync(Wire.Frame(BitConverter.GetBytes(i)));
                    await cancellation.CancelAsync();
                    int? came = null;
                    try
                    {
                        using StreamMessage message = await receiving;
                        came = BitConverter.ToInt32(message.Span);
                    }
                    catch (OperationCanceledException)
                    {
                        // Then the message is still there, or still to come.
                    }

                    await sending;
                    if (i % 10 == 0)
                    {
                        Assert.Null(came);
                        await peer.SendAsync(Wire.Frame(BitConverter.GetBytes(i)));
                    }

                    if (came is null)
                    {
                        using StreamMessage message = await socket.ReceiveAsync(Guard.Token);
                        came = BitConverter.ToInt32(message.Span);
                    }

                    Assert.Equal(i, came);
                }
            },
            Guard.Token).Guarded();
    }

    [Fact]
    public async Task A_synchronous_continuation_that_would_block_its_shard_throws_and_names_the_alternative()
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Bind(out string endpoint, new StreamOptions { AllowSynchronousContinuations = true });
        StreamSocket other = fixture.Bind(out _);
        Exception? thrown = null;
        Task echo = EchoAsync(socket, Way.One, _ =>
        {
            if (ShardLoop.Current is not null)
            {
                Volatile.Write(ref thrown, Record.Exception(() => other.Receive()));
            }
        });
        RawPeer peer = await fixture.ConnectAsync(endpoint);
        while (Volatile.Read(ref thrown) is null)
        {
            await RoundTripAsync(peer, 1);
        }

        Assert.Contains("ReceiveAsync", Assert.IsType<InvalidOperationException>(thrown).Message, StringComparison.Ordinal);
        socket.Dispose();
        await echo.Guarded();
    }

    [Fact]
    public async Task A_receive_may_end_its_peer_or_its_socket_from_within_a_shard()
    {
        await using var fixture = new StreamFixture(shards: 1);
        StreamSocket socket = fixture.Bind(out string endpoint, new StreamOptions { AllowSynchronousContinuations = true });
        int ended = 0;
        Task echo = EchoAsync(socket, Way.Many, message =>
        {
            if (ShardLoop.Current is null)
            {
                return;
            }

            // Three peers one by one, then the socket, each of them with its answer still to be written.
            if (Interlocked.Increment(ref ended) <= 3)
            {
                Assert.True(socket.To(message.PeerId).TrySend([9]));
                Assert.True(socket.Disconnect(message.PeerId));
            }
            else
            {
                Assert.True(socket.To(message.PeerId).TrySend([9]));
                socket.Dispose();
            }
        });
        while (Volatile.Read(ref ended) < 4)
        {
            RawPeer peer = await fixture.ConnectAsync(endpoint);
            byte[]? answer;
            do
            {
                await peer.SendFrameAsync(1);
                answer = await peer.ReadFrameAsync();
                Assert.NotNull(answer);
            }
            while (answer is not [9]);
            await peer.ReadToEndAsync(); // An orderly end; a reset would throw.
            peer.Dispose();
        }

        await echo.Guarded();
        Assert.Equal(4, ended);
    }

    [Fact]
    public async Task A_peer_that_floods_leaves_the_shard_to_the_others()
    {
        await using var fixture = new StreamFixture(shards: 1);
        StreamSocket socket = fixture.Bind(out string endpoint, new StreamOptions { AllowSynchronousContinuations = true });
        var pushed = new TestHandler { Received = static (peer, frames) => PushEchoAsync(peer, frames) };
        fixture.Bind(pushed, out string other);
        Task echo = EchoAsync(socket, Way.One, static _ => { });
        using var stop = new CancellationTokenSource();
        Task[] floods = [.. Enumerable.Range(0, 3).Select(async _ =>
        {
            RawPeer flood = await fixture.ConnectAsync(endpoint);
            byte[] frames = Wire.Frames(Enumerable.Repeat(new byte[100], 500));
            while (!stop.IsCancellationRequested)
            {
                await flood.SendAsync(frames);
                await flood.ReadAsync(frames.Length);
            }
        })];

        // The same shard reads this one.
        RawPeer peer = await fixture.ConnectAsync(other);
        for (int i = 0; i < 200; i++)
        {
            await RoundTripAsync(peer, 1);
        }

        await stop.CancelAsync();
        await Task.WhenAll(floods).Guarded();
        socket.Dispose();
        await echo.Guarded();
    }

    private static ValueTask PushEchoAsync(StreamPeer peer, StreamFrames frames)
    {
        foreach (ReadOnlyMemory<byte> frame in frames)
        {
            peer.TrySend(frame.Span);
        }

        return ValueTask.CompletedTask;
    }

    private static Task RoundTripAsync(RawPeer peer, int count) =>
        peer.AssertEchoedAsync([.. Enumerable.Range(0, count).Select(static i => new[] { (byte)i })]);

    /// <summary>Answers everything, on no synchronization context, until the socket ends.</summary>
    private static Task EchoAsync(StreamSocket socket, Way way, Action<StreamMessage> look) => Task.Run(async () =>
    {
        try
        {
            if (way == Way.All)
            {
                await foreach (StreamMessage message in socket.ReceiveAllAsync(Guard.Token))
                {
                    Answer(socket, message, look);
                }
            }

            var batch = new StreamMessage[40];
            while (true)
            {
                int count = 1;
                if (way == Way.Many)
                {
                    count = await socket.ReceiveManyAsync(batch, Guard.Token);
                }
                else
                {
                    batch[0] = await socket.ReceiveAsync(Guard.Token);
                }

                foreach (StreamMessage message in batch.AsSpan(0, count))
                {
                    Answer(socket, message, look);
                }
            }
        }
        catch (ObjectDisposedException)
        {
            // The test is over.
        }
    });

    private static void Answer(StreamSocket socket, StreamMessage message, Action<StreamMessage> look)
    {
        if (message.Kind == StreamMessageKind.Data)
        {
            look(message);
            socket.SendMany(message.PeerId, [message]);
        }

        message.Dispose();
    }
}
