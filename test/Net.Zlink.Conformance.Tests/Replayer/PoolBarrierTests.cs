using Net.Zlink.Conformance.Tests.Replay.Driving;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Conformance.Tests.Replayer;

/// <summary>What the proof that nothing is under way rests on.</summary>
public sealed class PoolBarrierTests
{
    [Fact]
    public async Task Work_that_runs_on_the_thread_pool_has_ended_behind_the_pool_barrier()
    {
        for (int round = 0; round < 200; round++)
        {
            bool isDone = false;
            var begun = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            int length = round * 100;
            ThreadPool.UnsafeQueueUserWorkItem(
                _ =>
                {
                    begun.SetResult();
                    Thread.SpinWait(length);
                    Volatile.Write(ref isDone, true);
                },
                state: null);
            await begun.Task.Guarded();
            await PoolBarrier.PassAsync().Guarded();
            Assert.True(Volatile.Read(ref isDone), $"round {round}");
        }
    }

    [Fact]
    public async Task The_pool_barrier_is_not_passed_while_a_pool_thread_works()
    {
        using var held = new ManualResetEventSlim();
        var begun = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        ThreadPool.UnsafeQueueUserWorkItem(
            _ =>
            {
                begun.SetResult();
                held.Wait(Guard.Limit);
            },
            state: null);
        await begun.Task.Guarded();
        Task passing = PoolBarrier.PassAsync();
        for (int i = 0; i < 20; i++) // Each a turn of the pool, most of whose threads wait at the barrier.
        {
            Assert.False(passing.IsCompleted);
            await Task.Yield();
        }

        held.Set();
        await passing.Guarded();
    }

    [Fact]
    public async Task Many_pass_at_once()
    {
        await Task.WhenAll(Enumerable.Range(0, 1_000).Select(static _ => PoolBarrier.PassAsync())).Guarded();
        await PoolBarrier.PassAsync().Guarded();
    }
}
