using Net.Zlink.Flow;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Flow;

/// <summary>The lock of the message path: nobody gets in beside its holder, and whoever waits is let in.</summary>
public sealed class ShortLockTests
{
    private ShortLock _lock;
    private int _inside;
    private long _sum;
    private string? _fault;

    [Theory]
    [InlineData(2, 200_000)]
    [InlineData(8, 50_000)]
    public async Task Only_one_thread_at_a_time_is_inside_and_everyone_gets_in(int threads, int times)
    {
        Task[] all = [.. Enumerable.Range(0, threads).Select(_ => Run(() => Enter(times)))];
        await Task.WhenAll(all).Guarded();
        Assert.Null(_fault);
        Assert.Equal((long)threads * times, _sum);
    }

    [Fact]
    public async Task A_thread_that_blocks_is_woken_when_the_holder_leaves()
    {
        const int Rounds = 200;
        for (int round = 0; round < Rounds; round++)
        {
            using var isHeld = new ManualResetEventSlim();
            using var mayLeave = new ManualResetEventSlim();
            Task holder = Run(() =>
            {
                using (_lock.EnterScope())
                {
                    isHeld.Set();
                    mayLeave.Wait(Guard.Token);
                }
            });
            isHeld.Wait(Guard.Token);
            Thread? thread = null;
            var isThere = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            Task waiter = Run(() =>
            {
                thread = Thread.CurrentThread;
                isThere.SetResult();
                Enter(1);
            });
            await isThere.Task.Guarded();

            // On odd rounds it blocks in earnest before the holder leaves; on even ones the two race.
            Assert.True(SpinWait.SpinUntil(() => round % 2 == 0 || IsBlocked(thread), Guard.Limit));
            mayLeave.Set();
            await Task.WhenAll(holder, waiter).Guarded();
        }

        Assert.Equal(Rounds, _sum);
    }

    private static Task Run(Action body) => Task.Factory.StartNew(
        body, CancellationToken.None, TaskCreationOptions.LongRunning, TaskScheduler.Default);

    private static bool IsBlocked(Thread? thread) => thread is not null && thread.ThreadState.HasFlag(ThreadState.WaitSleepJoin);

    private void Enter(int times)
    {
        for (int i = 0; i < times; i++)
        {
            using (_lock.EnterScope())
            {
                if (++_inside != 1)
                {
                    _fault = "two threads were inside";
                }

                _sum++;
                _inside--;
            }
        }
    }
}
