using System.Diagnostics;
using Net.Zlink.Monitoring;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

[Collection(Alone.Name)]
public sealed class StarvedPoolTests
{
    private const int RoundTrips = 20;

    // Both outlast any timeout below: at 50 ms each, 60 heartbeats take 3 s.
    private const int Heartbeats = 60;
    private static readonly TimeSpan Interval = TimeSpan.FromMilliseconds(50);
    private static readonly TimeSpan Allowed = TimeSpan.FromSeconds(2);

    [Fact]
    public async Task Heartbeats_and_round_trips_of_others_go_on_while_4_times_as_many_pool_threads_as_processors_block_in_Receive()
    {
        await using var fixture = new ContextFixture();
        PairSocket silent = fixture.Context.CreatePair();
        silent.Bind("tcp://127.0.0.1:0");
        DealerSocket answerer = fixture.Context.CreateDealer(Lively());
        DealerSocket asker = fixture.Context.CreateDealer(Lively());
        using var wire = new HeartbeatCounter(answerer.Bind("tcp://127.0.0.1:0"));
        asker.Connect(wire.Endpoint);
        await fixture.UntilAsync(() => answerer.GetPeers().Concat(asker.GetPeers()).Count(static p => p.IsConnected) == 2);
        using EventReader here = answerer.ReadEvents(SocketEventTypes.Disconnected);
        using EventReader there = asker.ReadEvents(SocketEventTypes.Disconnected);
        int count = 4 * Environment.ProcessorCount;
        using var entered = new CountdownEvent(count);
        Task[] blocked = [.. Enumerable.Range(0, count).Select(_ => Task.Run(
            () =>
            {
                entered.Signal();
                return Assert.Throws<ObjectDisposedException>(() => silent.Receive(2 * Guard.Limit));
            },
            Guard.Token))];

        // This side needs the pool twice: for what comes, and to go on.
        Task answering = AnswerAsync(answerer);
        TimeSpan longest = TimeSpan.Zero;
        var threads = new TestThreads();
        threads.Start(() =>
        {
            // The pool adds the threads that are missing; only then are all of them blocked.
            Assert.True(entered.Wait(Guard.Limit, Guard.Token));
            wire.WaitFor(Heartbeats);
            for (int i = 0; i < RoundTrips; i++)
            {
                byte[] question = Wire.Pattern(100, i);
                long started = Stopwatch.GetTimestamp();
                asker.Send(question);
                using Message answer = asker.Receive(Guard.Limit);
                TimeSpan took = Stopwatch.GetElapsedTime(started);
                longest = took > longest ? took : longest;
                Wire.AssertSame(question, answer.Span.ToArray());
            }

            wire.WaitFor(Heartbeats);
        });
        await threads.JoinAsync(() => wire.Count);
        Assert.DoesNotContain(blocked, static task => task.IsCompleted);
        Assert.False(here.TryRead(out SocketEvent lost), lost.Detail);
        Assert.False(there.TryRead(out lost), lost.Detail);
        Assert.InRange(longest, TimeSpan.Zero, Allowed);
        silent.Dispose();
        await Task.WhenAll(blocked).Guarded();
        await answering.Guarded();
    }

    private static DealerOptions Lively() => new()
    {
        HeartbeatInterval = Interval,
        HeartbeatTimeout = Allowed,
        HeartbeatTtl = Allowed,
        Linger = TimeSpan.Zero,
    };

    private static async Task AnswerAsync(DealerSocket socket)
    {
        for (int i = 0; i < RoundTrips; i++)
        {
            using Message message = await socket.ReceiveAsync(Guard.Token).ConfigureAwait(false);
            socket.Send(message.Span);
        }
    }
}
