using System.Diagnostics;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Stream;

[Collection(Alone.Name)]
public sealed class StarvedPoolTests
{
    private const int RoundTrips = 20;
    private static readonly TimeSpan Allowed = TimeSpan.FromSeconds(2);

    [Fact]
    public async Task A_round_trip_stays_within_2_seconds_while_4_times_as_many_pool_threads_as_processors_block_in_Receive()
    {
        await using var fixture = new StreamFixture();
        StreamSocket silent = fixture.Bind(out _);
        fixture.Bind(TestHandler.Echo(), out string endpoint);
        int count = 4 * Environment.ProcessorCount;
        using var entered = new CountdownEvent(count);
        Task[] blocked = [.. Enumerable.Range(0, count).Select(_ => Task.Run(
            () =>
            {
                entered.Signal();
                return Assert.Throws<ObjectDisposedException>(() => silent.Receive(Guard.Limit));
            },
            Guard.Token))];
        TimeSpan longest = TimeSpan.Zero;

        // On a thread of its own: this end needs the pool for nothing.
        var client = new Thread(() =>
        {
            long started = Stopwatch.GetTimestamp();
            using var echo = new BlockingEcho(endpoint);
            for (int i = 0; i < RoundTrips; i++)
            {
                echo.RoundTrip();
                TimeSpan took = Stopwatch.GetElapsedTime(started);
                longest = took > longest ? took : longest;
                started = Stopwatch.GetTimestamp();
            }
        })
        { IsBackground = true };

        // The pool adds the threads that are missing; only then are all of them blocked.
        await Task.Factory.StartNew(
            () =>
            {
                Assert.True(entered.Wait(Guard.Limit, Guard.Token));
                client.Start();
                client.JoinGuarded();
            },
            Guard.Token,
            TaskCreationOptions.LongRunning,
            TaskScheduler.Default).Guarded();
        Assert.DoesNotContain(blocked, static task => task.IsCompleted);
        silent.Dispose();
        await Task.WhenAll(blocked).Guarded();
        Assert.InRange(longest, TimeSpan.Zero, Allowed);
    }

    [Fact]
    public async Task Round_trips_go_on_while_100_continuations_of_receives_block_their_threads()
    {
        const int Blocked = 100;
        ThreadPool.GetMinThreads(out int least, out int leastOfPorts);
        Assert.True(ThreadPool.SetMinThreads(Blocked + least, leastOfPorts)); // Else it takes the pool a minute to add them.
        try
        {
            await using var fixture = new StreamFixture();
            fixture.Bind(TestHandler.Echo(), out string endpoint);
            using var entered = new CountdownEvent(Blocked);
            using var release = new ManualResetEventSlim();
            Task[] blocked = new Task[Blocked];
            for (int i = 0; i < Blocked; i++)
            {
                StreamSocket socket = fixture.Bind(out string other);
                blocked[i] = BlockAfterReceiveAsync(socket, entered, release);
                await (await fixture.ConnectAsync(other)).SendFrameAsync(1);
            }

            await Task.Factory.StartNew(
                () => Assert.True(entered.Wait(Guard.Limit, Guard.Token)),
                Guard.Token, TaskCreationOptions.LongRunning, TaskScheduler.Default).Guarded();
            RawPeer peer = await fixture.ConnectAsync(endpoint);
            for (int i = 0; i < RoundTrips; i++)
            {
                await peer.AssertEchoedAsync([[(byte)i]]).Guarded();
            }

            Assert.DoesNotContain(blocked, static task => task.IsCompleted);
            release.Set();
            await Task.WhenAll(blocked).Guarded();
        }
        finally
        {
            ThreadPool.SetMinThreads(least, leastOfPorts);
        }
    }

    private static async Task BlockAfterReceiveAsync(StreamSocket socket, CountdownEvent entered, ManualResetEventSlim release)
    {
        using StreamMessage connected = await socket.ReceiveAsync(Guard.Token);
        using StreamMessage message = await socket.ReceiveAsync(Guard.Token);
        entered.Signal();
        Assert.True(release.Wait(Guard.Limit, Guard.Token));
    }
}
