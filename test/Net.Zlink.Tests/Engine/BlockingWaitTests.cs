using Net.Zlink.Engine;
using Net.Zlink.Tests.Support;
using Xunit;
using static Net.Zlink.Tests.Engine.EngineFixture;

namespace Net.Zlink.Tests.Engine;

public sealed class BlockingWaitTests
{
    private static readonly TimeSpan Short = TimeSpan.FromMilliseconds(15);

    public static TheoryData<bool> OnPool => [false, true];

    [Theory]
    [MemberData(nameof(OnPool))]
    public async Task A_blocked_thread_gets_the_result(bool onPool)
    {
        var line = new WaiterTests.Line();
        Task<int> waiting = RunAsync(onPool, () => Wait(line, Timeout.InfiniteTimeSpan));
        Complete(line, 5);
        Assert.Equal(5, await waiting);
    }

    [Theory]
    [MemberData(nameof(OnPool))]
    public async Task A_result_that_comes_before_the_thread_blocks_is_there_at_once(bool onPool)
    {
        var line = new WaiterTests.Line();
        Assert.Equal(6, await RunAsync(onPool, () =>
        {
            Waiter<int> waiter = line.Add(blocking: true);
            line.TryComplete(6);
            Assert.True(BlockingWait.Until(waiter, line, TimeSpan.Zero));
            return waiter.GetResult(waiter.Version);
        }));
    }

    [Theory]
    [MemberData(nameof(OnPool))]
    public async Task A_timeout_takes_the_wait_out_of_its_list(bool onPool)
    {
        var line = new WaiterTests.Line();
        Assert.Equal(-1, await RunAsync(onPool, () => Wait(line, Short)));
        Assert.Equal(-1, await RunAsync(onPool, () => Wait(line, TimeSpan.Zero)));
        Assert.True(line.IsEmpty);
        Assert.False(line.TryComplete(1));
    }

    [Theory]
    [MemberData(nameof(OnPool))]
    public async Task Timeouts_against_completions_lose_no_result(bool onPool)
    {
        // Timeouts of 0 to 2 ms while another thread completes as fast as it can: every completion that found a waiter is a result that
        // came out.
        const int Rounds = 400;
        var line = new WaiterTests.Line();
        int given = 0;
        bool done = false;
        Task<int> waiting = RunAsync(onPool, () =>
        {
            int got = 0;
            for (int i = 0; i < Rounds; i++)
            {
                got += Wait(line, TimeSpan.FromMilliseconds(i % 3 == 0 ? 0 : i % 3 == 1 ? 0.3 : 1)) >= 0 ? 1 : 0;
            }

            Volatile.Write(ref done, true);
            return got;
        });
        InParallel(() =>
        {
            for (int i = 0; !Volatile.Read(ref done); i++)
            {
                Thread.SpinWait(i % 4_000);
                given += line.TryComplete(i) ? 1 : 0;
            }
        });
        Assert.Equal(given, await waiting);
    }

    [Fact]
    public async Task An_interrupted_thread_leaves_no_wait_behind()
    {
        var line = new WaiterTests.Line();
        Thread? waiter = null;
        Task<int> waiting = RunAsync(onPool: false, () =>
        {
            Volatile.Write(ref waiter, Thread.CurrentThread);
            return Wait(line, Timeout.InfiniteTimeSpan);
        });
        Assert.True(SpinWait.SpinUntil(() => !line.IsEmpty, Patience));
        waiter!.Interrupt();
        await Assert.ThrowsAsync<ThreadInterruptedException>(() => waiting);
        Assert.True(line.IsEmpty);
    }

    [Fact]
    public async Task An_interruption_that_meets_a_completion_keeps_the_result_and_comes_at_the_next_wait()
    {
        bool interruptedLater = false;
        Task<int> waiting = RunAsync(onPool: false, () =>
        {
            var waiter = new Waiter<int>();
            var list = new DecidedList(waiter);
            waiter.Prepare(list, recycle: null, blocking: true);
            Thread.CurrentThread.Interrupt();
            Assert.True(BlockingWait.Until(waiter, list, Timeout.InfiniteTimeSpan));
            try
            {
                new ManualResetEventSlim().Wait(Patience);
            }
            catch (ThreadInterruptedException)
            {
                interruptedLater = true;
            }

            return waiter.GetResult(waiter.Version);
        });
        Assert.Equal(9, await waiting);
        Assert.True(interruptedLater);
    }

    [Fact]
    public async Task A_thread_of_its_own_blocks_without_allocating()
    {
        var line = new WaiterTests.Line();
        long allocated = await RunAsync(onPool: false, () =>
        {
            long least = Allocations.Of(
                () =>
                {
                    Waiter<int> waiter = line.Add(blocking: true);
                    line.TryComplete(1);
                    BlockingWait.Until(waiter, line, Short);
                    waiter.GetResult(waiter.Version);
                },
                rounds: 200);
            return (int)least;
        });
        Assert.Equal(0, allocated);
    }

    private static int Wait(WaiterTests.Line line, TimeSpan timeout)
    {
        Waiter<int> waiter = line.Add(blocking: true);
        return BlockingWait.Until(waiter, line, timeout) ? waiter.GetResult(waiter.Version) : -1;
    }

    private static void Complete(WaiterTests.Line line, int result) =>
        Assert.True(SpinWait.SpinUntil(() => line.TryComplete(result), Patience));

    private static Task<int> RunAsync(bool onPool, Func<int> body)
    {
        if (onPool)
        {
            return Task.Run(
                () =>
                {
                    Assert.True(Thread.CurrentThread.IsThreadPoolThread);
                    return body();
                },
                TestContext.Current.CancellationToken).WaitAsync(Patience);
        }

        var done = new TaskCompletionSource<int>(TaskCreationOptions.RunContinuationsAsynchronously);
        new Thread(() =>
        {
            try
            {
                done.SetResult(body());
            }
            catch (Exception e)
            {
                done.SetException(e);
            }
        })
        { IsBackground = true }.Start();
        return done.Task.WaitAsync(Patience);
    }

    /// <summary>A list where another thread has just decided the outcome, and says so when it is asked.</summary>
    private sealed class DecidedList(Waiter<int> waiter) : IWaiterList
    {
        public bool TryRemove(WaiterNode node)
        {
            new Thread(() => waiter.Complete(9)) { IsBackground = true }.Start();
            return false;
        }
    }
}
