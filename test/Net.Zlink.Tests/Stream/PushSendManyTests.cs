using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Stream;

/// <summary>A handler that passes the frames it was given on as they came.</summary>
public sealed class PushSendManyTests
{
    public enum Passing
    {
        InPlace,
        BehindAnAwait,
        OnAnotherThread,
    }

    [Theory]
    [MemberData(nameof(SendManyTests.Bursts), MemberType = typeof(SendManyTests))]
    public async Task Frames_that_a_handler_sends_back_arrive_whole_and_in_order(int size, int count)
    {
        await using var fixture = new StreamFixture();
        fixture.Bind(Relay(static (peer, frames) => peer.SendMany(frames)), out string endpoint);
        RawPeer peer = await fixture.ConnectAsync(endpoint);
        await peer.AssertEchoedAsync([.. Enumerable.Range(0, count).Select(i => Wire.Pattern(size, i))]);
    }

    [Theory]
    [InlineData(Passing.InPlace)]
    [InlineData(Passing.BehindAnAwait)]
    [InlineData(Passing.OnAnotherThread)]
    public async Task Frames_forwarded_to_a_slow_peer_are_not_overwritten_by_later_reads(Passing passing)
    {
        const int Messages = 3_000;
        await using var fixture = new StreamFixture(shards: 1);
        var target = new TaskCompletionSource<StreamPeer>(TaskCreationOptions.RunContinuationsAsynchronously);
        int refused = 0;
        var handler = new TestHandler
        {
            Connected = peer => target.TrySetResult(peer), // The first one to come takes what the others say.
            Received = async (sender, frames) =>
            {
                StreamPeer reader = await target.Task;
                if (passing == Passing.BehindAnAwait)
                {
                    await Task.Yield();
                }

                if (passing == Passing.OnAnotherThread)
                {
                    // Over before the handler returns, and not by the shard's thread.
                    var other = new Thread(Pass);
                    other.Start();
                    other.JoinGuarded();
                }
                else
                {
                    Pass();
                }

                void Pass() => Interlocked.Add(ref refused, frames.Count - reader.SendMany(frames));
            },
        };
        fixture.Bind(handler, out string endpoint, new StreamOptions { SendBufferSize = 16 * 1024, SendHighWaterMark = null });
        RawPeer slow = await fixture.ConnectAsync(endpoint, receiveBuffer: 16 * 1024);
        await target.Task.Guarded();
        RawPeer[] sources = [await fixture.ConnectAsync(endpoint), await fixture.ConnectAsync(endpoint)];
        for (int i = 0; i < Messages; i += 60)
        {
            for (int s = 0; s < sources.Length; s++)
            {
                await sources[s].SendAsync(Wire.Frames(Enumerable.Range(i, 60).Select(n => Numbered(s, n))));
            }
        }

        int[] next = new int[sources.Length];
        for (int i = 0; i < Messages * sources.Length; i++)
        {
            byte[] frame = (await slow.ReadFrameAsync())!;
            int source = frame[0];
            Wire.AssertSame(Numbered(source, next[source]++), frame);
        }

        Assert.Equal(0, refused);

        static byte[] Numbered(int source, int number) => [(byte)source, .. Wire.Pattern(100 + (number % 1_500), number)];
    }

    [Fact]
    public async Task A_full_peer_takes_as_many_as_its_high_water_mark_lets_in()
    {
        await using var fixture = new StreamFixture(shards: 1);
        var taken = new List<int>();
        var done = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        int seen = 0;
        TestHandler handler = Relay((peer, frames) =>
        {
            int sent = peer.SendMany(frames);
            taken.Add(sent);
            seen += frames.Count;
            if (seen == 1_000)
            {
                done.SetResult();
            }
        });
        fixture.Bind(handler, out string endpoint, new StreamOptions { SendHighWaterMark = 5, SendBufferSize = 16 * 1024 });
        RawPeer peer = await fixture.ConnectAsync(endpoint, receiveBuffer: 16 * 1024);
        await peer.SendAsync(Wire.Frames(Enumerable.Range(0, 1_000).Select(static i => Wire.Pattern(2_000, i))));
        await done.Task.Guarded();
        Assert.InRange(taken.Sum(), 5, 999);
        peer.EndSending();
        int read = 0;
        while (await peer.ReadFrameAsync() is not null)
        {
            read++;
        }

        Assert.Equal(taken.Sum(), read);
    }

    [Fact]
    public async Task A_peer_that_is_gone_takes_nothing_and_says_so()
    {
        await using var fixture = new StreamFixture();
        StreamPeer? gone = null;
        var outcome = new TaskCompletionSource<(int Sent, SendFailure Reason)>(TaskCreationOptions.RunContinuationsAsynchronously);
        TestHandler handler = Relay((_, frames) =>
        {
            int sent = gone!.SendMany(frames);
            outcome.SetResult((sent, gone.TrySend([]).Reason));
        });
        fixture.Bind(handler, out string endpoint);
        RawPeer first = await fixture.ConnectAsync(endpoint);
        gone = await handler.NextConnectedAsync();
        first.Dispose();
        await handler.NextDisconnectedAsync();
        RawPeer peer = await fixture.ConnectAsync(endpoint);
        await peer.SendFrameAsync(1);
        Assert.Equal((0, SendFailure.NoPeer), await outcome.Task.Guarded());
    }

    private static TestHandler Relay(Action<StreamPeer, StreamFrames> pass) => new()
    {
        Received = (peer, frames) =>
        {
            pass(peer, frames);
            return ValueTask.CompletedTask;
        },
    };
}
