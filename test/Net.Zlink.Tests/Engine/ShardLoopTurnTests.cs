using Net.Zlink.Engine;
using Xunit;
using static Net.Zlink.Tests.Engine.EngineFixture;

namespace Net.Zlink.Tests.Engine;

/// <summary>How long a shard goes on, what it takes first, and what it says of its time.</summary>
public sealed class ShardLoopTurnTests
{
    [Fact]
    public async Task A_turn_is_bounded_and_the_rest_goes_on_from_the_pool()
    {
        const int Works = 1_000;
        ShardLoop shard = NewShard();
        int ran = 0;
        Hold(shard, () =>
        {
            for (int i = 0; i < Works; i++)
            {
                shard.Post(new TestWork(_ => Interlocked.Increment(ref ran)), 1);
            }
        });
        await DrainAsync(shard);

        Assert.Equal(Works, ran);
        Assert.InRange(shard.Counters.LargestTurnWorks, 1, 256);
        Assert.InRange(shard.Counters.RunsFromPool, Works / 256, long.MaxValue);
    }

    [Fact]
    public async Task A_long_work_ends_the_turn()
    {
        ShardLoop shard = NewShard();
        var second = new TaskCompletionSource<long>(TaskCreationOptions.RunContinuationsAsynchronously);
        Hold(shard, () =>
        {
            shard.Post(new TestWork(_ => Spin(TimeSpan.FromMilliseconds(5))), 1);
            shard.Post(new TestWork(_ => second.SetResult(shard.Counters.RunsFromPool)), 1);
        });

        Assert.InRange(await second.Task.WaitAsync(Patience, TestContext.Current.CancellationToken), 1, 2);
    }

    [Fact]
    public async Task A_run_over_50_ms_is_reported_by_name()
    {
        ShardLoop shard = NewShard(out RecordingObserver observer);
        using (new ProcessorWaitFixture(static () => TimeSpan.Zero))
        {
            shard.RunOrPost(new TestWork(_ => Spin(TimeSpan.FromMilliseconds(60))) { Name = "the slow one" }, 1);
        }

        await DrainAsync(shard);

        (_, TimeSpan elapsed) = Assert.Single(observer.SlowRuns,
            static run => string.Equals(run.Work, "the slow one", StringComparison.Ordinal));
        Assert.InRange(elapsed, TimeSpan.FromMilliseconds(60), Patience);
    }

    [Fact]
    public async Task Urgent_works_go_first_but_cannot_keep_the_others_out()
    {
        ShardLoop shard = NewShard();
        List<string> ran = [];
        var all = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        void Note(string kind)
        {
            ran.Add(kind);
            if (ran.Count == 201)
            {
                all.SetResult();
            }
        }

        Hold(shard, () =>
        {
            shard.Post(new TestWork(_ => Note("normal")), 1);
            for (int i = 0; i < 200; i++)
            {
                shard.PostUrgent(new TestWork(_ => Note("urgent")), 1);
            }
        });
        await all.Task.WaitAsync(Patience, TestContext.Current.CancellationToken);

        Assert.Equal("urgent", ran[0]);
        Assert.Contains("normal", ran[..65], StringComparer.Ordinal);
    }

    [Fact]
    public async Task A_work_that_reposts_itself_urgently_for_ever_does_not_starve_a_normal_one()
    {
        ShardLoop shard = NewShard();
        bool stop = false;
        TestWork greedy = null!;
        greedy = new TestWork(_ =>
        {
            if (!Volatile.Read(ref stop))
            {
                shard.PostUrgent(greedy, 1);
            }
        });
        shard.PostUrgent(greedy, 1);
        await OnShardAsync(shard, () => Volatile.Write(ref stop, true));
    }

    [Fact]
    public async Task Busy_time_of_a_shard_is_counted_once()
    {
        // Two threads drive the shard through many short idle moments; the sum of its turns can't pass the time that went by.
        ShardLoop shard = NewShard();
        long start = System.Diagnostics.Stopwatch.GetTimestamp();
        void Drive()
        {
            for (int i = 0; i < 20_000; i++)
            {
                shard.RunOrPost(new TestWork(static _ => { }), 1);
            }
        }

        InParallel(Drive, Drive);
        await DrainAsync(shard);
        long elapsed = System.Diagnostics.Stopwatch.GetTimestamp() - start;

        Assert.InRange(shard.Counters.BusyTicks, 1, elapsed);
    }
}
